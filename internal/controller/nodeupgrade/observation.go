package nodeupgrade

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/snapshot"
)

// Role is what a Pod of a NodeUpgrade is for.
type Role string

// The roles of the Pods of a NodeUpgrade.
const (
	// RoleStager brings programs and images to the node, which stays in service.
	RoleStager Role = "stager"
	// RoleEtcdBackup takes a copy of a control plane's etcd from another control plane, and keeps it there.
	RoleEtcdBackup Role = "etcd-backup"
	// RoleUpgrader runs every step.
	RoleUpgrader Role = "upgrader"
)

var roles = []Role{RoleStager, RoleEtcdBackup, RoleUpgrader}

// Observation is everything that Decide looks at.
type Observation struct {
	Now     time.Time
	Upgrade *v1alpha1.NodeUpgrade
	// Node is nil where the API server says that there is none.
	Node *corev1.Node
	// Version is nil where no KubernetesVersion of the wanted version exists.
	Version *v1alpha1.KubernetesVersion
	// Pods by their role, those of other NodeUpgrades on the same node included.
	Pods map[Role]*corev1.Pod
	// Cluster holds the wanted version and nodes, and nothing else: for a control plane every node, for a worker at least itself
	// and one that takes its pods, where there is one.
	Cluster snapshot.Cluster
	// EtcdMembers says that etcd runs as static Pods of the control planes.
	EtcdMembers bool
}

// controlPlanes counts the control planes, this one included.
func (o *Observation) controlPlanes() int {
	n := 0
	for i := range o.Cluster.Nodes {
		if o.Cluster.Nodes[i].ControlPlane {
			n++
		}
	}
	return n
}

// peers are the other control planes that can keep a copy of this one's etcd, by name.
func (o *Observation) peers() []snapshot.Node {
	var peers []snapshot.Node
	for _, n := range o.Cluster.Nodes {
		if n.ControlPlane && n.InService() && n.Name != o.Upgrade.Spec.Machine.Name {
			peers = append(peers, n)
		}
	}
	slices.SortFunc(peers, func(a, b snapshot.Node) int { return strings.Compare(a.Name, b.Name) })
	return peers
}

// own is the Pod of that role that belongs to this NodeUpgrade, nil where there is none.
func (o *Observation) own(role Role) *corev1.Pod {
	if pod := o.Pods[role]; pod != nil && metav1.IsControlledBy(pod, o.Upgrade) {
		return pod
	}
	return nil
}

// live is a Pod of this NodeUpgrade that may still be doing something, nil where there is none.
func (o *Observation) live() (Role, *corev1.Pod) {
	for _, role := range roles {
		if pod := o.own(role); pod != nil && !ended(pod) {
			return role, pod
		}
	}
	return "", nil
}

// cordonedByUs says that this NodeUpgrade cordoned the node: nobody else may lift that, and nothing else may be lifted.
func (o *Observation) cordonedByUs() bool {
	return o.Node != nil && o.Node.Annotations[v1alpha1.AnnotationCordonedBy] == string(o.Upgrade.UID)
}

// ready is the Ready condition of the node; one that was never set counts as Unknown.
func (o *Observation) ready() corev1.NodeCondition {
	for _, c := range o.Node.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return c
		}
	}
	return corev1.NodeCondition{Type: corev1.NodeReady, Status: corev1.ConditionUnknown, LastTransitionTime: o.Node.CreationTimestamp}
}

func (o *Observation) nodeReady() bool { return o.ready().Status == corev1.ConditionTrue }

func ended(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}
