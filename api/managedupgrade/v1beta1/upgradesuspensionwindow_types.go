package v1beta1

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// UpgradeSuspensionWindowSpec says when nothing is upgraded.
// +kubebuilder:validation:XValidation:rule="self.start <= self.end",message="end must not be before start"
type UpgradeSuspensionWindowSpec struct {
	// start of the window, inclusive.
	Start metav1.Time `json:"start"`
	// end of the window, inclusive.
	End metav1.Time `json:"end"`
	// reason, for people.
	// +optional
	Reason string `json:"reason,omitempty"`
	// configSelector selects the UpgradeConfigs that create no jobs in the window, by their labels. An empty one selects all, none
	// selects no config.
	// +optional
	ConfigSelector *metav1.LabelSelector `json:"configSelector,omitempty"`
	// jobSelector selects the UpgradeJobs that do not start in the window, by their labels: they succeed as Skipped. An empty one
	// selects all, none selects no job. A job that has started goes on.
	// +optional
	JobSelector *metav1.LabelSelector `json:"jobSelector,omitempty"`
}

// MatchingObject is one that a window's selector matches.
type MatchingObject struct {
	// name of the object.
	Name string `json:"name"`
}

// UpgradeSuspensionWindowStatus says whom the window holds.
type UpgradeSuspensionWindowStatus struct {
	// matchingConfigs are the UpgradeConfigs that configSelector matches.
	// +optional
	MatchingConfigs []MatchingObject `json:"matchingConfigs,omitempty"`
	// matchingJobs are the UpgradeJobs that jobSelector matches.
	// +optional
	MatchingJobs []MatchingObject `json:"matchingJobs,omitempty"`
}

// UpgradeSuspensionWindow holds upgrades for a while.
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=usw
// +kubebuilder:printcolumn:name="Start",type=string,JSONPath=`.spec.start`
// +kubebuilder:printcolumn:name="End",type=string,JSONPath=`.spec.end`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.spec.reason`
// +kubebuilder:printcolumn:name="Configs",type=string,JSONPath=`.status.matchingConfigs[*].name`,priority=1
// +kubebuilder:printcolumn:name="Jobs",type=string,JSONPath=`.status.matchingJobs[*].name`,priority=1
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type UpgradeSuspensionWindow struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   UpgradeSuspensionWindowSpec   `json:"spec"`
	Status UpgradeSuspensionWindowStatus `json:"status,omitempty"`
}

// UpgradeSuspensionWindowList is a list of UpgradeSuspensionWindows.
// +kubebuilder:object:root=true
type UpgradeSuspensionWindowList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []UpgradeSuspensionWindow `json:"items"`
}

// HoldsConfig says whether the window is about a config of its namespace, at whatever time.
func (w *UpgradeSuspensionWindow) HoldsConfig(c *UpgradeConfig) (bool, error) {
	return w.selects(w.Spec.ConfigSelector, "configSelector", c)
}

// HoldsJob says whether the window is about a job of its namespace, at whatever time.
func (w *UpgradeSuspensionWindow) HoldsJob(j *UpgradeJob) (bool, error) {
	return w.selects(w.Spec.JobSelector, "jobSelector", j)
}

func (w *UpgradeSuspensionWindow) selects(s *metav1.LabelSelector, field string, o metav1.Object) (bool, error) {
	if w.Namespace != o.GetNamespace() || w.DeletionTimestamp != nil {
		return false, nil
	}
	selector, err := metav1.LabelSelectorAsSelector(s)
	if err != nil {
		return false, fmt.Errorf("UpgradeSuspensionWindow %s: spec.%s: %w", w.Name, field, err)
	}
	return selector.Matches(labels.Set(o.GetLabels())), nil
}
