package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// NetworkingOrder says when the network plugin is upgraded.
// +kubebuilder:validation:Enum=AfterFirstControlPlane;BeforeControlPlanes
type NetworkingOrder string

// When networking is upgraded.
const (
	// NetworkingAfterFirst is the seed's order, and kubeadm's.
	NetworkingAfterFirst NetworkingOrder = "AfterFirstControlPlane"
	// NetworkingFirst is what StarlingX's later releases do, where the plugin is tested on the older Kubernetes.
	NetworkingFirst NetworkingOrder = "BeforeControlPlanes"
)

// RolloutPlanSpec says how an upgrade goes through the nodes.
type RolloutPlanSpec struct {
	// maxUnavailable is how many workers may be out of service at once, as a number or in percent of the workers (rounded
	// down, but at least 1). Workers that are out for any other reason count. Default 1.
	// +kubebuilder:default=1
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:XValidation:rule="type(self) == int ? self >= 1 : self.matches('^([1-9]|[1-9][0-9]|100)%$')",message="spec.maxUnavailable must be a number of at least 1, or a percentage from 1% to 100%"
	// +optional
	MaxUnavailable *intstr.IntOrString `json:"maxUnavailable,omitempty"`
	// stagingParallelism is how many nodes fetch programs and images at once, in service. Default 10.
	// +kubebuilder:default=10
	// +kubebuilder:validation:Minimum=1
	// +optional
	StagingParallelism int32 `json:"stagingParallelism,omitempty"`
	// drain says how pods are moved away.
	// +kubebuilder:default={}
	// +optional
	Drain *DrainPolicy `json:"drain,omitempty"`
	// networking says when the network plugin is upgraded. Default AfterFirstControlPlane.
	// +kubebuilder:default=AfterFirstControlPlane
	// +optional
	Networking NetworkingOrder `json:"networking,omitempty"`
}

// RolloutPlan says how an upgrade goes through the nodes.
// +kubebuilder:object:root=true
// +kubebuilder:resource:scope=Cluster,shortName=rp
// +kubebuilder:printcolumn:name="MaxUnavailable",type=string,JSONPath=`.spec.maxUnavailable`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type RolloutPlan struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec RolloutPlanSpec `json:"spec"`
}

// RolloutPlanList is a list of RolloutPlans.
// +kubebuilder:object:root=true
type RolloutPlanList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []RolloutPlan `json:"items"`
}
