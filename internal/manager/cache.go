package manager

import (
	"unique"

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
	n.Labels = share(n.Labels)
	n.Spec = corev1.NodeSpec{Unschedulable: n.Spec.Unschedulable, Taints: n.Spec.Taints}
	n.Status = corev1.NodeStatus{
		Conditions: n.Status.Conditions,
		Addresses:  n.Status.Addresses,
		NodeInfo: corev1.NodeSystemInfo{
			KubeletVersion:          n.Status.NodeInfo.KubeletVersion,
			ContainerRuntimeVersion: n.Status.NodeInfo.ContainerRuntimeVersion,
		},
	}
	for i := range n.Status.Conditions {
		c := &n.Status.Conditions[i]
		c.LastHeartbeatTime = metav1.Time{} // heartbeats would make every copy another one
		if healthy := c.Type == corev1.NodeReady; healthy == (c.Status == corev1.ConditionTrue) {
			c.Reason, c.Message = "", "" // what is well says the same on every node, and nobody reads it
		}
	}
	return n, nil
}

// trimPod keeps where a Pod runs, its images and its status. Of an upgrader's Pod nobody asks for the images: every step's is the same.
func trimPod(o any) (any, error) {
	p, ok := o.(*corev1.Pod)
	if !ok {
		return o, nil
	}
	p.ManagedFields = nil
	spec := corev1.PodSpec{NodeName: p.Spec.NodeName}
	if p.Namespace == metav1.NamespaceSystem {
		for _, c := range p.Spec.Containers {
			spec.Containers = append(spec.Containers, corev1.Container{Name: c.Name, Image: c.Image})
		}
	}
	p.Spec = spec
	p.Labels = share(p.Labels)
	for _, list := range [][]corev1.ContainerStatus{p.Status.InitContainerStatuses, p.Status.ContainerStatuses} {
		for i := range list {
			list[i] = corev1.ContainerStatus{Name: one(list[i].Name), Image: one(list[i].Image), State: list[i].State}
		}
	}
	return p, nil
}

// share gives labels whose texts are kept once for all objects: there are thousands of the same.
func share(labels map[string]string) map[string]string {
	out := make(map[string]string, len(labels))
	for k, v := range labels {
		out[one(k)] = one(v)
	}
	return out
}

func one(text string) string { return unique.Make(text).Value() }

func keep(all map[string]string, key string) map[string]string {
	if v, ok := all[key]; ok {
		return map[string]string{key: v}
	}
	return nil
}
