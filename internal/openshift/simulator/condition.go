package simulator

import (
	"slices"

	configv1 "github.com/openshift/api/config/v1"
	machinev1 "github.com/openshift/api/machineconfiguration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The conditions of a ClusterVersion that have no constant in OpenShift's API.
const (
	failing           configv1.ClusterStatusConditionType = "Failing"
	invalid           configv1.ClusterStatusConditionType = "Invalid"
	releaseAccepted   configv1.ClusterStatusConditionType = "ReleaseAccepted"
	retrievedUpdates  configv1.ClusterStatusConditionType = "RetrievedUpdates"
	implicitlyEnabled configv1.ClusterStatusConditionType = "ImplicitlyEnabledCapabilities"
)

// conditions are those of a ClusterVersion or a ClusterOperator.
type conditions struct {
	list *[]configv1.ClusterOperatorStatusCondition
	now  metav1.Time
}

// set writes a condition; the time of its last transition changes with its status only.
func (c conditions) set(kind configv1.ClusterStatusConditionType, status bool, reason, message string) {
	next := configv1.ClusterOperatorStatusCondition{Type: kind, Status: configv1.ConditionFalse, LastTransitionTime: c.now, Reason: reason, Message: message}
	if status {
		next.Status = configv1.ConditionTrue
	}
	i := c.index(kind)
	if i < 0 {
		*c.list = append(*c.list, next)
		return
	}
	if old := (*c.list)[i]; old.Status == next.Status {
		next.LastTransitionTime = old.LastTransitionTime
	}
	(*c.list)[i] = next
}

func (c conditions) remove(kind configv1.ClusterStatusConditionType) {
	*c.list = slices.DeleteFunc(*c.list, func(o configv1.ClusterOperatorStatusCondition) bool { return o.Type == kind })
}

func (c conditions) index(kind configv1.ClusterStatusConditionType) int {
	return slices.IndexFunc(*c.list, func(o configv1.ClusterOperatorStatusCondition) bool { return o.Type == kind })
}

// poolConditions are those of a MachineConfigPool.
type poolConditions struct {
	list *[]machinev1.MachineConfigPoolCondition
	now  metav1.Time
}

// set writes a condition; the time of its last transition changes with its status only.
func (c poolConditions) set(kind machinev1.MachineConfigPoolConditionType, status bool, reason, message string) {
	next := machinev1.MachineConfigPoolCondition{Type: kind, Status: corev1.ConditionFalse, LastTransitionTime: c.now, Reason: reason, Message: message}
	if status {
		next.Status = corev1.ConditionTrue
	}
	i := slices.IndexFunc(*c.list, func(o machinev1.MachineConfigPoolCondition) bool { return o.Type == kind })
	if i < 0 {
		*c.list = append(*c.list, next)
		return
	}
	if old := (*c.list)[i]; old.Status == next.Status {
		next.LastTransitionTime = old.LastTransitionTime
	}
	(*c.list)[i] = next
}
