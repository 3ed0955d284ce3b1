package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ControlPlaneUpgradeSpec brings control planes to a version, one at a time (seed: eksa-in-place-upgrades).
type ControlPlaneUpgradeSpec struct {
	// controlPlane is what the machines belong to: a KubeadmControlPlane, or without Cluster API the KubernetesUpgrade.
	ControlPlane corev1.ObjectReference `json:"controlPlane"`
	// machinesRequireUpgrade are the machines to upgrade: Cluster API Machines, or Nodes. The order is Refit's to choose.
	// +kubebuilder:validation:MinItems=1
	MachinesRequireUpgrade []corev1.ObjectReference `json:"machinesRequireUpgrade"`
	// kubernetesVersion to bring them to, e.g. v1.36.3.
	// +kubebuilder:validation:Pattern=`^v1\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$`
	// +kubebuilder:validation:MaxLength=63
	KubernetesVersion string `json:"kubernetesVersion"`
	// etcdVersion that kubeadm of that version installs.
	// +optional
	EtcdVersion string `json:"etcdVersion,omitempty"`
	// controlPlaneSpecData is the control plane's new spec, base64, where Cluster API owns it.
	// +optional
	ControlPlaneSpecData string `json:"controlPlaneSpecData,omitempty"`
	// allowed are the nodes that may be started; absent means all. The KubernetesUpgrade uses it to stop after the first
	// control plane for the networking step, and in Manual mode.
	// +optional
	Allowed *[]string `json:"allowed,omitempty"`
	// paused starts nothing new; what is in flight is finished.
	// +optional
	Paused bool `json:"paused,omitempty"`
	// excludedGates are gates, by name, that do not hold this up.
	// +listType=set
	// +optional
	ExcludedGates []string `json:"excludedGates,omitempty"`
	// drain says how pods are moved away. Default: as the RolloutPlan's defaults.
	// +optional
	Drain *DrainPolicy `json:"drain,omitempty"`
}

// ControlPlaneUpgradeStatus is where the control planes stand.
type ControlPlaneUpgradeStatus struct {
	// requireUpgrade is the number of machines still to be upgraded.
	RequireUpgrade int64 `json:"requireUpgrade"`
	// upgraded is the number of machines that are.
	Upgraded int64 `json:"upgraded"`
	// ready says that all of them are.
	Ready bool `json:"ready"`
	// turn counts how often the manager took its turn to begin nodes: of two managers with the same observation, the API server lets only
	// one count on.
	// +optional
	Turn int64 `json:"turn,omitempty"`
	// current is the node in flight, empty when there is none.
	// +optional
	Current string `json:"current,omitempty"`
	// waiting says, in words, what the next control plane waits for.
	// +optional
	Waiting string `json:"waiting,omitempty"`
	// conditions: Ready, GatesOpen.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// observedGeneration is the generation of the spec that the status was worked out from.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
}

// ControlPlaneUpgrade brings control planes to a version, one at a time, each behind gates.
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=cpu
// +kubebuilder:printcolumn:name="Version",type=string,JSONPath=`.spec.kubernetesVersion`
// +kubebuilder:printcolumn:name="Require",type=integer,JSONPath=`.status.requireUpgrade`
// +kubebuilder:printcolumn:name="Upgraded",type=integer,JSONPath=`.status.upgraded`
// +kubebuilder:printcolumn:name="Ready",type=boolean,JSONPath=`.status.ready`
// +kubebuilder:printcolumn:name="Current",type=string,JSONPath=`.status.current`
// +kubebuilder:printcolumn:name="Waiting",type=string,JSONPath=`.status.waiting`,priority=1
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="self.metadata.name.size() <= 63",message="metadata.name must not be longer than 63 characters: it is the value of a label"
type ControlPlaneUpgrade struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   ControlPlaneUpgradeSpec   `json:"spec"`
	Status ControlPlaneUpgradeStatus `json:"status,omitempty"`
}

// ControlPlaneUpgradeList is a list of ControlPlaneUpgrades.
// +kubebuilder:object:root=true
type ControlPlaneUpgradeList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []ControlPlaneUpgrade `json:"items"`
}
