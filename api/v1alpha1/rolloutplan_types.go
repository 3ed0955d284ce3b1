package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"refit.dev/refit/api/jobtemplate"
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

// NodeSet selects nodes, by labels, by names, or both.
type NodeSet struct {
	// selector of the nodes, by their labels. None selects none; an empty one selects all.
	// +optional
	Selector *metav1.LabelSelector `json:"selector,omitempty"`
	// nodes by name.
	// +kubebuilder:validation:MaxItems=5000
	// +kubebuilder:validation:items:MaxLength=253
	// +listType=set
	// +optional
	Nodes []string `json:"nodes,omitempty"`
}

// Verification is a Job that must succeed before the rollout goes on.
type Verification struct {
	// template of the Job, which runs in namespace refit-system. REFIT_UPGRADE, REFIT_GROUP and REFIT_VERSION are set in its containers.
	Template jobtemplate.Template `json:"template"`
	// timeout is how long the Job may take. Default 30m.
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^(0|([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+)$`
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="duration(self) <= duration('8760h')",message="must not be above 8760h"
	// +kubebuilder:default="30m"
	// +optional
	Timeout *metav1.Duration `json:"timeout,omitempty"`
}

// NodeGroup is workers that are upgraded together.
// +kubebuilder:validation:XValidation:rule="has(self.selector) || has(self.nodes)",message="a group needs a selector or nodes"
type NodeGroup struct {
	// name of the group, for `refit approve` and in what is reported.
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	// +kubebuilder:validation:MaxLength=40
	Name    string `json:"name"`
	NodeSet `json:",inline"`
	// maxUnavailable is how many nodes of the group may be out of service at once, as a number or in percent of the group (rounded
	// down, but at least 1). Default: the plan's, or 1.
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:Pattern=`^([1-9]|[1-9][0-9]|100)%$`
	// +kubebuilder:validation:MaxLength=4
	// +kubebuilder:validation:XValidation:rule="type(self) != int || self >= 1",message="must be a number of at least 1, or a percentage from 1% to 100%"
	// +optional
	MaxUnavailable *intstr.IntOrString `json:"maxUnavailable,omitempty"`
	// parallelism is how many nodes of the group may be in flight at once, as a number or in percent of the group. Default: as many as
	// maxUnavailable.
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:Pattern=`^([1-9]|[1-9][0-9]|100)%$`
	// +kubebuilder:validation:MaxLength=4
	// +kubebuilder:validation:XValidation:rule="type(self) != int || self >= 1",message="must be a number of at least 1, or a percentage from 1% to 100%"
	// +optional
	Parallelism *intstr.IntOrString `json:"parallelism,omitempty"`
	// besidePrevious lets the group run side by side with the one before it in the list.
	// +optional
	BesidePrevious bool `json:"besidePrevious,omitempty"`
	// spreadTopologyKey is a label of nodes, such as topology.kubernetes.io/zone: of those out of service at once no value of it has more
	// than its share.
	// +kubebuilder:validation:MaxLength=317
	// +optional
	SpreadTopologyKey string `json:"spreadTopologyKey,omitempty"`
	// soak is how long to wait after the group's last node before what follows, to see what it does, e.g. 1h.
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^(0|([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+)$`
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="duration(self) <= duration('8760h')",message="must not be above 8760h"
	// +optional
	Soak *metav1.Duration `json:"soak,omitempty"`
	// verify is run after the soak, and must succeed before what follows.
	// +optional
	Verify *Verification `json:"verify,omitempty"`
	// approval has the group wait for a person: `refit approve GROUP`.
	// +optional
	Approval bool `json:"approval,omitempty"`
	// failureBudget is how many nodes of the group may fail before the upgrade stops, as a number or in percent of the group (rounded
	// down). Default: the plan's.
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:Pattern=`^([0-9]|[1-9][0-9]|100)%$`
	// +kubebuilder:validation:MaxLength=4
	// +kubebuilder:validation:XValidation:rule="type(self) != int || self >= 0",message="must be a number of at least 0, or a percentage from 0% to 100%"
	// +optional
	FailureBudget *intstr.IntOrString `json:"failureBudget,omitempty"`
	// drain replaces the plan's for the group.
	// +optional
	Drain *DrainPolicy `json:"drain,omitempty"`
}

// RolloutPlanSpec says how an upgrade goes through the nodes.
// +kubebuilder:validation:XValidation:rule="!has(self.groups) || size(self.groups) == 0 || !has(self.groups[0].besidePrevious) || !self.groups[0].besidePrevious",message="the first group has none before it: remove its besidePrevious"
type RolloutPlanSpec struct {
	// groups of workers, in their order: a group begins when the one before it is done. A worker that several groups select belongs to
	// the first, one that none selects comes last. Without groups all workers are one.
	// +kubebuilder:validation:MaxItems=100
	// +listType=map
	// +listMapKey=name
	// +optional
	Groups []NodeGroup `json:"groups,omitempty"`
	// failureBudget is how many workers may fail in all before the upgrade stops, as a number or in percent of the workers (rounded
	// down). Default 0: the first failure stops it.
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:Pattern=`^([0-9]|[1-9][0-9]|100)%$`
	// +kubebuilder:validation:MaxLength=4
	// +kubebuilder:validation:XValidation:rule="type(self) != int || self >= 0",message="must be a number of at least 0, or a percentage from 0% to 100%"
	// +optional
	FailureBudget *intstr.IntOrString `json:"failureBudget,omitempty"`
	// critical are nodes whose failure stops the upgrade at once, whatever the budgets. A control plane is critical always.
	// +optional
	Critical *NodeSet `json:"critical,omitempty"`
	// maxUnavailable is how many workers may be out of service at once, as a number or in percent of the workers (rounded
	// down, but at least 1). Workers that are out for any other reason count. Default 1; with groups that have their own, the sum of
	// those that run side by side.
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:XValidation:rule="type(self) == int ? self >= 1 : self.matches('^([1-9]|[1-9][0-9]|100)%$')",message="spec.maxUnavailable must be a number of at least 1, or a percentage from 1% to 100%"
	// +optional
	MaxUnavailable *intstr.IntOrString `json:"maxUnavailable,omitempty"`
	// stagingParallelism is how many nodes fetch programs and images at once, in service; of control planes never more than one does. Default 10.
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
