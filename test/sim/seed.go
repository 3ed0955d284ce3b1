package main

import (
	"context"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"refit.dev/refit/api/v1alpha1"
)

const (
	from              = "v1.35.4"
	to                = "v1.36.3"
	plan              = "sim"
	image             = "refit.dev/bundle@sha256:0000000000000000000000000000000000000000000000000000000000000000"
	labelControlPlane = "node-role.kubernetes.io/control-plane"
	// writers is how many objects are created at once.
	writers = 16
)

var components = []string{"kube-apiserver", "kube-controller-manager", "kube-scheduler", "etcd"}

func controlPlaneName(i int) string { return fmt.Sprintf("cp-%d", i) }
func workerName(i int) string       { return fmt.Sprintf("worker-%04d", i) }

// seed creates the versions, the plan, and the nodes.
func (c *cluster) seed(ctx context.Context, s settings, workers int) error {
	objects := []client.Object{
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: "kubeadm-config"},
			Data: map[string]string{"ClusterConfiguration": "kubernetesVersion: " + from + "\n"}},
		&v1alpha1.RolloutPlan{ObjectMeta: metav1.ObjectMeta{Name: plan}, Spec: v1alpha1.RolloutPlanSpec{
			MaxUnavailable: new(intstr.FromInt(s.limit(workers))), StagingParallelism: int32(2 * s.limit(workers))}},
	}
	for _, v := range []string{from, to} {
		objects = append(objects, &v1alpha1.KubernetesVersion{ObjectMeta: metav1.ObjectMeta{Name: v},
			Spec: v1alpha1.KubernetesVersionSpec{Version: v, Image: image, UpgradeFrom: []string{"v1.35"}}})
	}
	for i := range s.controlPlanes {
		objects = append(objects, node(controlPlaneName(i), i, true))
	}
	for i := range workers {
		objects = append(objects, node(workerName(i), i, false))
	}
	return c.createAll(ctx, objects)
}

// seedPods creates the static Pods of the control planes. Their nodes must be there: kwok overlooks Pods of nodes that it has not seen.
func (c *cluster) seedPods(ctx context.Context, s settings) error {
	var objects []client.Object
	for i := range s.controlPlanes {
		for _, component := range components {
			objects = append(objects, staticPod(component, controlPlaneName(i)))
		}
	}
	return c.createAll(ctx, objects)
}

// createAll creates objects, many at once, and reports the first error.
func (c *cluster) createAll(ctx context.Context, objects []client.Object) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	work := make(chan client.Object)
	var all sync.WaitGroup
	for range writers {
		all.Go(func() {
			for o := range work {
				if err := c.client.Create(ctx, o); err != nil {
					cancel(fmt.Errorf("create %s: %w", o.GetName(), err))
				}
			}
		})
	}
	for _, o := range objects {
		work <- o
	}
	close(work)
	all.Wait()
	return context.Cause(ctx)
}

// node is as large as those of real clusters: labels of a cloud, resources, images. Its status is set by kwok.
func node(name string, i int, controlPlane bool) *corev1.Node {
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
		corev1.LabelHostname: name, corev1.LabelOSStable: "linux", corev1.LabelArchStable: "amd64", corev1.LabelInstanceTypeStable: "m7.2xlarge",
		corev1.LabelTopologyRegion: "north-1", corev1.LabelTopologyZone: fmt.Sprintf("north-1%c", 'a'+i%3),
	}, Annotations: map[string]string{
		"node.alpha.kubernetes.io/ttl": "0", "csi.volume.kubernetes.io/nodeid": fmt.Sprintf(`{"csi.example.com":"i-%017x"}`, i),
	}}, Spec: corev1.NodeSpec{PodCIDR: fmt.Sprintf("10.%d.%d.0/24", i/250, i%250), ProviderID: fmt.Sprintf("sim:///%s", name)}}
	if controlPlane {
		n.Labels[labelControlPlane] = ""
	}
	n.Status.Capacity = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("8"), corev1.ResourceMemory: resource.MustParse("32Gi"), corev1.ResourcePods: resource.MustParse("110")}
	n.Status.Allocatable = n.Status.Capacity
	for k := range 25 {
		n.Status.Images = append(n.Status.Images, corev1.ContainerImage{SizeBytes: int64(100_000_000 + k),
			Names: []string{fmt.Sprintf("registry.example.com/team-%02d/application@sha256:%064x", k, k), fmt.Sprintf("registry.example.com/team-%02d/application:v1.%d.0", k, k)}})
	}
	return n
}

func staticPod(component, node string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: component + "-" + node,
			Labels: map[string]string{"component": component, "tier": "control-plane"}},
		Spec: corev1.PodSpec{NodeName: node, Containers: []corev1.Container{{Name: component, Image: "registry.k8s.io/" + component + ":" + from}}},
	}
}
