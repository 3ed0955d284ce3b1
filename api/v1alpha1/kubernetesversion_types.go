package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// VersionState says where a Kubernetes version runs, or whether it could (seed: starlingx-kubernetes-upgrades).
// +kubebuilder:validation:Enum=active;partial;available;unavailable
type VersionState string

// The states of a KubernetesVersion.
const (
	// VersionActive: every component of every node runs it.
	VersionActive VersionState = "active"
	// VersionPartial: it runs somewhere.
	VersionPartial VersionState = "partial"
	// VersionAvailable: the active version can be upgraded to it.
	VersionAvailable VersionState = "available"
	// VersionUnavailable: there is no way from the active version to it.
	VersionUnavailable VersionState = "unavailable"
)

// KubernetesVersionSpec describes a Kubernetes version that a cluster may run, and the image that brings it to a node.
// `refit bundle import` writes it from a bundle.
// +kubebuilder:validation:XValidation:rule="!has(self.upgradeFrom) || !(self.version in self.upgradeFrom)",message="spec.upgradeFrom must not name spec.version itself: remove it"
// +kubebuilder:validation:XValidation:rule="!has(self.downgradeTo) || self.downgradeTo.all(v, v.split('.')[1] == self.version.split('.')[1])",message="spec.downgradeTo may only name patch versions of the same minor: Kubernetes does not support going back a minor"
type KubernetesVersionSpec struct {
	// version is the Kubernetes version, e.g. v1.36.3. It equals the object's name.
	// +kubebuilder:validation:Pattern=`^v1\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$`
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="spec.version cannot be changed: create another KubernetesVersion"
	Version string `json:"version"`
	// upgradeFrom are the versions that can be upgraded to this one: a whole version (v1.35.4), or a minor (v1.35), which
	// stands for each of its patch versions.
	// +kubebuilder:validation:MaxItems=100
	// +kubebuilder:validation:items:Pattern=`^v1\.[0-9]+(\.[0-9]+(-[0-9A-Za-z.-]+)?)?$`
	// +kubebuilder:validation:items:MaxLength=63
	// +listType=set
	// +optional
	UpgradeFrom []string `json:"upgradeFrom,omitempty"`
	// downgradeTo are the patch versions of the same minor that this version can go back to.
	// +kubebuilder:validation:MaxItems=100
	// +kubebuilder:validation:items:Pattern=`^v1\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$`
	// +kubebuilder:validation:items:MaxLength=63
	// +listType=set
	// +optional
	DowngradeTo []string `json:"downgradeTo,omitempty"`
	// appliedPatches must be applied before an upgrade to this version starts.
	// +listType=set
	// +optional
	AppliedPatches []string `json:"appliedPatches,omitempty"`
	// availablePatches must be available, but not applied, before an upgrade to this version starts.
	// +listType=set
	// +optional
	AvailablePatches []string `json:"availablePatches,omitempty"`
	// image is the upgrader image: every program of this version, by digest.
	// +kubebuilder:validation:Pattern=`^[^@\s]+@sha256:[0-9a-f]{64}$`
	Image string `json:"image"`
	// components are the versions of what the image holds, and of what kubeadm installs with it.
	// +listType=map
	// +listMapKey=name
	// +optional
	Components []Component `json:"components,omitempty"`
	// networking brings the network plugin to what this version needs. Without it there is nothing to do.
	// +optional
	Networking *Networking `json:"networking,omitempty"`
}

// Component is one thing in a bundle.
type Component struct {
	// name of the component: kubernetes, containerd, runc, cni-plugins, etcd, coredns, pause.
	Name string `json:"name"`
	// version of the component, as the component itself prints it.
	Version string `json:"version"`
}

// Networking names manifests to apply when the control plane runs the version.
type Networking struct {
	// configMap holds the manifests, one or several YAML documents a key, applied in the order of the keys. Deployments and
	// DaemonSets among them are waited for, Jobs must complete.
	ConfigMap ConfigMapReference `json:"configMap"`
	// timeout bounds the whole step. Default 10m.
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^(0|([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+)$`
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="duration(self) <= duration('8760h')",message="must not be above 8760h"
	// +kubebuilder:default="10m"
	// +optional
	Timeout *metav1.Duration `json:"timeout,omitempty"`
}

// ConfigMapReference names a ConfigMap.
type ConfigMapReference struct {
	// namespace of the ConfigMap. Default refit-system.
	// +kubebuilder:default=refit-system
	// +optional
	Namespace string `json:"namespace,omitempty"`
	// name of the ConfigMap.
	// +kubebuilder:validation:MinLength=1
	Name string `json:"name"`
}

// KubernetesVersionStatus is worked out from what runs, never stored by hand.
type KubernetesVersionStatus struct {
	// state of the version in this cluster.
	// +optional
	State VersionState `json:"state,omitempty"`
	// target says whether this is the version selected for installation: an unfinished upgrade's toVersion, otherwise the
	// active version.
	// +optional
	Target bool `json:"target,omitempty"`
	// observedGeneration is the generation of the spec that the status was worked out from.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
}

// KubernetesVersion is a Kubernetes version that the cluster runs or may be brought to.
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,shortName=kv
// +kubebuilder:printcolumn:name="Version",type=string,JSONPath=`.spec.version`
// +kubebuilder:printcolumn:name="Target",type=boolean,JSONPath=`.status.target`
// +kubebuilder:printcolumn:name="State",type=string,JSONPath=`.status.state`
// +kubebuilder:printcolumn:name="Image",type=string,JSONPath=`.spec.image`,priority=1
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="self.metadata.name == self.spec.version",message="metadata.name must equal spec.version"
type KubernetesVersion struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   KubernetesVersionSpec   `json:"spec"`
	Status KubernetesVersionStatus `json:"status,omitempty"`
}

// KubernetesVersionList is a list of KubernetesVersions.
// +kubebuilder:object:root=true
type KubernetesVersionList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []KubernetesVersion `json:"items"`
}

// Component is the version of a component, empty where the bundle names none.
func (v *KubernetesVersion) Component(name string) string {
	for _, c := range v.Spec.Components {
		if c.Name == name {
			return c.Version
		}
	}
	return ""
}
