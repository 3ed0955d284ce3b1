package manager

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"refit.dev/refit/api/managedupgrade/v1beta1"
	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/observe"
)

// cacheOptions keep in memory only what decisions rest on: of Pods those of control planes and of upgrades, of every object no
// more than a few fields. Thousands of nodes fit that way.
func cacheOptions(o Options) cache.Options {
	own := map[string]cache.Config{o.Namespace: {}}
	controlPlane := labels.SelectorFromSet(labels.Set{observe.LabelTier: observe.TierControlPlane})
	return cache.Options{
		DefaultTransform: cache.TransformStripManagedFields(),
		ByObject: map[client.Object]cache.ByObject{
			&v1alpha1.NodeUpgrade{}:         {Namespaces: own},
			&v1alpha1.ControlPlaneUpgrade{}: {Namespaces: own},
			&corev1.Pod{}: {
				Namespaces: map[string]cache.Config{o.Namespace: {}, metav1.NamespaceSystem: {LabelSelector: controlPlane}},
				Transform:  trimPod,
			},
			&corev1.Node{}: {Transform: trimNode},
			// Of all Jobs those that were made for hooks.
			&batchv1.Job{}: {Label: hookJobs()},
		},
	}
}

func hookJobs() labels.Selector {
	made, err := labels.NewRequirement(v1beta1.LabelJob, selection.Exists, nil)
	if err != nil { // the label is a constant
		return labels.Nothing()
	}
	return labels.NewSelector().Add(*made)
}

// trimNode drops what is large and never looked at.
func trimNode(o any) (any, error) {
	n, ok := o.(*corev1.Node)
	if !ok {
		return o, nil
	}
	n.ManagedFields = nil
	n.Annotations = keep(n.Annotations, v1alpha1.AnnotationCordonedBy)
	n.Status = corev1.NodeStatus{
		Conditions: n.Status.Conditions,
		Addresses:  n.Status.Addresses,
		NodeInfo: corev1.NodeSystemInfo{
			KubeletVersion:          n.Status.NodeInfo.KubeletVersion,
			ContainerRuntimeVersion: n.Status.NodeInfo.ContainerRuntimeVersion,
		},
	}
	for i := range n.Status.Conditions { // heartbeats would make every copy another one
		n.Status.Conditions[i].LastHeartbeatTime = metav1.Time{}
	}
	return n, nil
}

// trimPod keeps where a Pod runs, its images and its status.
func trimPod(o any) (any, error) {
	p, ok := o.(*corev1.Pod)
	if !ok {
		return o, nil
	}
	p.ManagedFields = nil
	spec := corev1.PodSpec{NodeName: p.Spec.NodeName}
	for _, c := range p.Spec.Containers {
		spec.Containers = append(spec.Containers, corev1.Container{Name: c.Name, Image: c.Image})
	}
	p.Spec = spec
	return p, nil
}

func keep(all map[string]string, key string) map[string]string {
	if v, ok := all[key]; ok {
		return map[string]string{key: v}
	}
	return nil
}
