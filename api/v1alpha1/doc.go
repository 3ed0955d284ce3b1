// Package v1alpha1 is the API of Refit: the kinds of group refit.dev, and pure methods on them.
//
// +kubebuilder:object:generate=true
// +groupName=refit.dev
package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var (
	// GroupVersion is the group and version of the kinds in this package.
	GroupVersion  = schema.GroupVersion{Group: "refit.dev", Version: "v1alpha1"}
	schemeBuilder = runtime.NewSchemeBuilder(addKinds)
	// AddToScheme adds the kinds to a scheme.
	AddToScheme = schemeBuilder.AddToScheme
)

func addKinds(s *runtime.Scheme) error {
	s.AddKnownTypes(GroupVersion,
		&KubernetesVersion{}, &KubernetesVersionList{},
		&KubernetesUpgrade{}, &KubernetesUpgradeList{},
		&ControlPlaneUpgrade{}, &ControlPlaneUpgradeList{},
		&NodeUpgrade{}, &NodeUpgradeList{},
		&RolloutPlan{}, &RolloutPlanList{})
	metav1.AddToGroupVersion(s, GroupVersion)
	return nil
}

// Namespace is where Refit runs, and where its namespaced objects and upgrader Pods are.
const Namespace = "refit-system"

// Labels and annotations that Refit sets.
const (
	// LabelUpgrade names, on the objects that an upgrade makes, the KubernetesUpgrade.
	LabelUpgrade = "refit.dev/upgrade"
	// LabelNode names, on NodeUpgrades and upgrader Pods, the node.
	LabelNode = "refit.dev/node"
	// LabelVersion names, on NodeUpgrades, the Kubernetes version that the node is brought to.
	LabelVersion = "refit.dev/version"
	// AnnotationCordonedBy is set on a Node together with its cordon, and holds the UID of the NodeUpgrade that set it.
	// A cordon without it was a person's, and stays.
	AnnotationCordonedBy = "refit.dev/cordoned-by"
	// AnnotationResume is set on a ControlPlaneUpgrade and a NodeUpgrade: the spec.resume of the KubernetesUpgrade under which
	// it was last begun. What failed under an earlier one may be tried again.
	AnnotationResume = "refit.dev/resume"
	// Finalizer keeps an object until what it took is given back.
	Finalizer = "refit.dev/finalizer"
)
