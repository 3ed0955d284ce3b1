// Package v1beta1 is the API of maintenance windows: the kinds of group managedupgrade.appuio.io, as their seed
// (openshift-upgrade-controller) and the manifests that are in use spell them, and pure methods on them.
//
// +kubebuilder:object:generate=true
// +groupName=managedupgrade.appuio.io
package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var (
	// GroupVersion is the group and version of the kinds in this package.
	GroupVersion  = schema.GroupVersion{Group: "managedupgrade.appuio.io", Version: "v1beta1"}
	schemeBuilder = runtime.NewSchemeBuilder(addKinds)
	// AddToScheme adds the kinds to a scheme.
	AddToScheme = schemeBuilder.AddToScheme
)

func addKinds(s *runtime.Scheme) error {
	s.AddKnownTypes(GroupVersion,
		&UpgradeConfig{}, &UpgradeConfigList{},
		&UpgradeJob{}, &UpgradeJobList{},
		&UpgradeJobHook{}, &UpgradeJobHookList{},
		&UpgradeSuspensionWindow{}, &UpgradeSuspensionWindowList{},
		&ClusterVersion{}, &ClusterVersionList{})
	metav1.AddToGroupVersion(s, GroupVersion)
	return nil
}

// Labels, annotations and finalizers. Those under upgradejobs.managedupgrade.appuio.io and AnnotationLock are the names that the
// existing controller uses, so that what reads them goes on working.
const (
	// AnnotationLock names, as namespace/name, the UpgradeJob that holds what it is set on: OpenShift's ClusterVersion, or the
	// KubernetesUpgrade that the job drives.
	AnnotationLock = "managedupgrade.appuio.io/upgrade-job"
	// AnnotationPausedBy is set on a machine config pool together with spec.paused, and names the UpgradeJob that set it. A pool that
	// is paused without it was paused by a person, and stays so.
	AnnotationPausedBy = "managedupgrade.appuio.io/paused-by"
	// AnnotationPausedOnFailure is set on a machine config pool that an UpgradeJob paused because it failed
	// (pauseMachineConfigPoolsOnFailure). A person unpauses it.
	AnnotationPausedOnFailure = "managedupgrade.appuio.io/paused-on-failure"
	// LabelHook, LabelJob and LabelEvent name, on the Jobs of hooks, what they were made for.
	LabelHook  = "upgradejobs.managedupgrade.appuio.io/upgradejobhook"
	LabelJob   = "upgradejobs.managedupgrade.appuio.io/upgradejob"
	LabelEvent = "upgradejobs.managedupgrade.appuio.io/event"
	// AnnotationTrackingKey distinguishes, on the Jobs of hooks, several runs of a hook for one event: the pool's name for
	// MachineConfigPoolUnpause.
	AnnotationTrackingKey = "upgradejobs.managedupgrade.appuio.io/tracking-key"
	// FinalizerHookJob keeps the Job of a hook until its result is recorded.
	FinalizerHookJob = "upgradejobs.managedupgrade.appuio.io/hook-job-tracker"
	// FinalizerJob keeps an UpgradeJob until all that it took is given back.
	FinalizerJob = "upgradejobs.managedupgrade.appuio.io/release"
)
