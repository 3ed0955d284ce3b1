package v1beta1

import (
	configv1 "github.com/openshift/api/config/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// OverlaySpec is a part of OpenShift's ClusterVersionSpec: what it leaves out is taken from the template.
type OverlaySpec struct {
	// clusterID uniquely identifies this cluster.
	// +optional
	ClusterID configv1.ClusterID `json:"clusterID,omitempty"`
	// desiredUpdate is ignored: jobs set it.
	// +optional
	DesiredUpdate *configv1.Update `json:"desiredUpdate,omitempty"`
	// upstream is the server of updates.
	// +optional
	Upstream configv1.URL `json:"upstream,omitempty"`
	// channel of updates, such as stable-4.16.
	// +optional
	Channel string `json:"channel,omitempty"`
	// capabilities are optional components of the cluster.
	// +optional
	Capabilities *configv1.ClusterVersionCapabilitiesSpec `json:"capabilities,omitempty"`
	// signatureStores are servers of release signatures.
	// +listType=map
	// +listMapKey=url
	// +kubebuilder:validation:MaxItems=32
	// +optional
	SignatureStores []configv1.SignatureStore `json:"signatureStores,omitempty"`
	// overrides are components that OpenShift does not manage.
	// +optional
	Overrides []configv1.ComponentOverride `json:"overrides,omitempty"`
}

// ClusterVersionTemplate is what OpenShift's ClusterVersion is brought to.
type ClusterVersionTemplate struct {
	// spec of OpenShift's ClusterVersion. desiredUpdate is ignored: jobs set it.
	// +optional
	Spec OverlaySpec `json:"spec,omitempty"`
}

// ClusterVersionOverlay changes the template.
type ClusterVersionOverlay struct {
	// spec is laid over the template's: a field that it has replaces the template's.
	// +optional
	Spec OverlaySpec `json:"spec,omitempty"`
}

// ClusterVersionOverlayConfig changes the template from a time on.
// +kubebuilder:validation:XValidation:rule="self.from >= timestamp('1970-01-01T00:00:00Z')",message="from must be a time, such as 2026-12-01T08:00:00+01:00"
type ClusterVersionOverlayConfig struct {
	// from is when the overlay begins to apply. The latest that has begun applies alone; of several with the same time the last one.
	From metav1.Time `json:"from"`
	// overlay of the template.
	Overlay ClusterVersionOverlay `json:"overlay"`
}

// ClusterVersionSpec is what OpenShift's ClusterVersion is brought to.
type ClusterVersionSpec struct {
	// template of OpenShift's ClusterVersion.
	// +optional
	Template ClusterVersionTemplate `json:"template,omitempty"`
	// overlays change the template from a time on, for instance to move to another channel.
	// +kubebuilder:validation:MaxItems=100
	// +optional
	Overlays []ClusterVersionOverlayConfig `json:"overlays,omitempty"`
}

// OverlayPreview is what will apply.
type OverlayPreview struct {
	// from is when it begins to apply.
	From metav1.Time `json:"from"`
	// preview of OpenShift's ClusterVersion.
	// +optional
	Preview ClusterVersionTemplate `json:"preview,omitempty"`
}

// ClusterVersionStatus is what was applied.
type ClusterVersionStatus struct {
	// current is what applies now.
	// +optional
	Current OverlaySpec `json:"current,omitempty"`
	// overlays will apply from their times on.
	// +optional
	Overlays []OverlayPreview `json:"overlays,omitempty"`
	// overlayApplied is the time of the overlay that applies now; absent where the template applies alone.
	// +optional
	OverlayApplied *metav1.Time `json:"overlayApplied,omitempty"`
	// conditions: Synced.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// ConditionSynced is True while OpenShift's ClusterVersion is as this one says.
const ConditionSynced = "Synced"

// The reasons of ConditionSynced.
const (
	ReasonSynced = "Synced"
	// ReasonNoOpenShift: the cluster does not serve OpenShift's API.
	ReasonNoOpenShift = "NoOpenShift"
	// ReasonNoClusterVersion: OpenShift's API is served, but there is no ClusterVersion version.
	ReasonNoClusterVersion = "NoClusterVersion"
	// ReasonAnother: an older ClusterVersion of this kind is the one that counts.
	ReasonAnother = "AnotherClusterVersion"
	// ReasonRefused: OpenShift does not take what this one says; the message is OpenShift's.
	ReasonRefused = "Refused"
)

// ClusterVersion manages the spec of OpenShift's ClusterVersion `version`, all but desiredUpdate. The oldest one counts.
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Channel",type=string,JSONPath=`.status.current.channel`
// +kubebuilder:printcolumn:name="Overlay",type=string,JSONPath=`.status.overlayApplied`
// +kubebuilder:printcolumn:name="Synced",type=string,JSONPath=`.status.conditions[?(@.type=="Synced")].status`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type ClusterVersion struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   ClusterVersionSpec   `json:"spec"`
	Status ClusterVersionStatus `json:"status,omitempty"`
}

// ClusterVersionList is a list of ClusterVersions.
// +kubebuilder:object:root=true
type ClusterVersionList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []ClusterVersion `json:"items"`
}
