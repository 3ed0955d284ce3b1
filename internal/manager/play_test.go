package manager

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/node/spec"
	"refit.dev/refit/internal/observe"
	"refit.dev/refit/internal/testcluster"
)

const (
	from  = "v1.35.4"
	to    = "v1.36.3"
	image = "refit.dev/bundle@sha256:0000000000000000000000000000000000000000000000000000000000000000"
)

var components = []string{"kube-apiserver", "kube-controller-manager", "kube-scheduler", "etcd"}

// play is a cluster whose kubelets are played: each runs the Pods of upgrades step by step, and does to its Node what the step
// would. What must hold at every instant is looked at with every step.
type play struct {
	client client.WithWatch
	ctx    context.Context

	mu         sync.Mutex
	violations []string
	order      []string
	created    map[string]int
	fail       func(node string, step v1alpha1.StepName) spec.ExitCode
}

func newPlay(t *testing.T, controlPlanes, workers int) *play {
	t.Helper()
	g := NewWithT(t)
	p := &play{client: testcluster.Start(t).Client, ctx: t.Context(), created: map[string]int{},
		fail: func(string, v1alpha1.StepName) spec.ExitCode { return spec.ExitDone }}
	p.create(g, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: v1alpha1.Namespace}})
	g.Expect(testcluster.Start(t).Apply(p.ctx, "rbac")).To(Succeed())
	for _, v := range []string{from, to} {
		p.create(g, &v1alpha1.KubernetesVersion{ObjectMeta: metav1.ObjectMeta{Name: v},
			Spec: v1alpha1.KubernetesVersionSpec{Version: v, Image: image, UpgradeFrom: []string{"v1.35"}}})
	}
	p.create(g, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: "kubeadm-config"},
		Data: map[string]string{"ClusterConfiguration": "kubernetesVersion: " + from + "\n"}})
	for i := range controlPlanes {
		p.node(g, fmt.Sprintf("cp-%d", i), true)
	}
	for i := range workers {
		p.node(g, fmt.Sprintf("worker-%d", i), false)
	}
	t.Cleanup(func() { p.clear(t) })
	return p
}

func (p *play) create(g Gomega, o client.Object) {
	if err := p.client.Create(p.ctx, o); !apierrors.IsAlreadyExists(err) {
		g.Expect(err).NotTo(HaveOccurred())
	}
}

func (p *play) node(g Gomega, name string, controlPlane bool) {
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{}}}
	if controlPlane {
		n.Labels[observe.LabelControlPlane] = ""
	}
	p.create(g, n)
	n.Status.NodeInfo.KubeletVersion, n.Status.NodeInfo.ContainerRuntimeVersion = from, "containerd://2.2.9"
	n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.Now()}}
	g.Expect(p.client.Status().Update(p.ctx, n)).To(Succeed())
	if !controlPlane {
		return
	}
	for _, c := range components {
		pod := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: c + "-" + name,
				Labels: map[string]string{observe.LabelComponent: c, observe.LabelTier: observe.TierControlPlane}},
			Spec: corev1.PodSpec{NodeName: name, Containers: []corev1.Container{{Name: c, Image: "registry.k8s.io/" + c + ":" + from}}},
		}
		p.create(g, pod)
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
		g.Expect(p.client.Status().Update(p.ctx, pod)).To(Succeed())
	}
}

func (p *play) clear(t *testing.T) {
	g := NewWithT(t)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	own := client.InNamespace(v1alpha1.Namespace)
	var upgrades v1alpha1.NodeUpgradeList
	g.Expect(p.client.List(ctx, &upgrades)).To(Succeed())
	for i := range upgrades.Items {
		upgrades.Items[i].Finalizers = nil
		g.Expect(client.IgnoreNotFound(p.client.Update(ctx, &upgrades.Items[i]))).To(Succeed())
	}
	for _, o := range []client.Object{&v1alpha1.NodeUpgrade{}, &v1alpha1.ControlPlaneUpgrade{}} {
		g.Expect(p.client.DeleteAllOf(ctx, o, own)).To(Succeed())
	}
	for _, o := range []client.Object{&v1alpha1.KubernetesUpgrade{}, &v1alpha1.KubernetesVersion{}, &v1alpha1.RolloutPlan{}, &corev1.Node{}} {
		g.Expect(p.client.DeleteAllOf(ctx, o)).To(Succeed())
	}
	now := client.GracePeriodSeconds(0)
	g.Expect(p.client.DeleteAllOf(ctx, &corev1.Pod{}, own, now)).To(Succeed())
	g.Expect(p.client.DeleteAllOf(ctx, &corev1.Pod{}, client.InNamespace(metav1.NamespaceSystem), now)).To(Succeed())
	g.Expect(p.client.DeleteAllOf(ctx, &corev1.ConfigMap{}, client.InNamespace(metav1.NamespaceSystem), client.MatchingFields{"metadata.name": "kubeadm-config"})).To(Succeed())
}

// run plays the kubelets until the context ends.
func (p *play) run(ctx context.Context) {
	tick := time.NewTicker(30 * time.Millisecond)
	defer tick.Stop()
	seen := map[string]bool{}
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		var pods corev1.PodList
		if p.client.List(ctx, &pods, client.InNamespace(v1alpha1.Namespace)) != nil {
			continue
		}
		for i := range pods.Items {
			pod := &pods.Items[i]
			if !seen[string(pod.UID)] {
				seen[string(pod.UID)] = true
				p.note(func() { p.created[pod.Name]++ })
			}
			p.step(ctx, pod)
		}
		p.look(ctx)
	}
}

func (p *play) note(do func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	do()
}

// step runs the next container of a Pod.
func (p *play) step(ctx context.Context, pod *corev1.Pod) {
	if pod.DeletionTimestamp != nil {
		_ = p.client.Delete(ctx, pod, &client.DeleteOptions{GracePeriodSeconds: ptr.To[int64](0)})
		return
	}
	if pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
		return
	}
	n := len(pod.Status.InitContainerStatuses)
	now := metav1.Now()
	state := &corev1.ContainerStateTerminated{StartedAt: now, FinishedAt: now, Message: "done"}
	if n == len(pod.Spec.InitContainers) {
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: pod.Spec.Containers[0].Name, State: corev1.ContainerState{Terminated: state}}}
		pod.Status.Phase = corev1.PodSucceeded
		_ = p.client.Status().Update(ctx, pod)
		return
	}
	step := v1alpha1.StepName(pod.Spec.InitContainers[n].Name)
	if code := p.fail(pod.Spec.NodeName, step); code != spec.ExitDone {
		state.ExitCode, state.Message = int32(code), "it was made to fail"
		pod.Status.Phase = corev1.PodFailed
	} else {
		p.does(ctx, pod, step)
	}
	pod.Status.InitContainerStatuses = append(pod.Status.InitContainerStatuses,
		corev1.ContainerStatus{Name: string(step), State: corev1.ContainerState{Terminated: state}})
	_ = p.client.Status().Update(ctx, pod)
}

// does has a step do to the Node what refit-node would.
func (p *play) does(ctx context.Context, pod *corev1.Pod, step v1alpha1.StepName) {
	told, err := spec.Parse(pod.Spec.InitContainers[0].Env[0].Value)
	if err != nil {
		p.note(func() { p.violations = append(p.violations, err.Error()) })
		return
	}
	switch step {
	case v1alpha1.StepContainerd:
		p.note(func() { p.order = append(p.order, told.NodeName) })
	case v1alpha1.StepKubeadm:
		p.kubeadm(ctx, told)
	case v1alpha1.StepDrain:
		if told.DrainNode {
			p.change(ctx, told.NodeName, func(n *corev1.Node) {
				if !n.Spec.Unschedulable {
					n.Spec.Unschedulable = true
					metav1.SetMetaDataAnnotation(&n.ObjectMeta, v1alpha1.AnnotationCordonedBy, told.UpgradeUID)
				}
			})
		}
	case v1alpha1.StepKubelet:
		var n corev1.Node
		if p.client.Get(ctx, client.ObjectKey{Name: told.NodeName}, &n) == nil {
			n.Status.NodeInfo.KubeletVersion = told.Version
			_ = p.client.Status().Update(ctx, &n)
		}
	case v1alpha1.StepUncordon:
		p.change(ctx, told.NodeName, func(n *corev1.Node) {
			if n.Annotations[v1alpha1.AnnotationCordonedBy] == told.UpgradeUID {
				n.Spec.Unschedulable = false
				delete(n.Annotations, v1alpha1.AnnotationCordonedBy)
			}
		})
	}
}

func (p *play) kubeadm(ctx context.Context, told spec.Spec) {
	if told.NodeType != v1alpha1.NodeTypeControlPlane {
		return
	}
	var config corev1.ConfigMap
	if err := p.client.Get(ctx, client.ObjectKey{Namespace: metav1.NamespaceSystem, Name: "kubeadm-config"}, &config); err == nil {
		was := config.Data["ClusterConfiguration"]
		config.Data["ClusterConfiguration"] = "kubernetesVersion: " + told.Version + "\n"
		if told.First {
			_ = p.client.Update(ctx, &config)
		} else if was != config.Data["ClusterConfiguration"] {
			p.note(func() {
				p.violations = append(p.violations, told.NodeName+" ran upgrade node before anybody ran upgrade apply")
			})
		}
	}
	for _, c := range components {
		var pod corev1.Pod
		if p.client.Get(ctx, client.ObjectKey{Namespace: metav1.NamespaceSystem, Name: c + "-" + told.NodeName}, &pod) == nil {
			pod.Spec.Containers[0].Image = "registry.k8s.io/" + c + ":" + told.Version
			_ = p.client.Update(ctx, &pod)
		}
	}
}

func (p *play) change(ctx context.Context, name string, set func(*corev1.Node)) {
	_ = retry.RetryOnConflict(retry.DefaultRetry, func() error {
		var n corev1.Node
		if err := p.client.Get(ctx, client.ObjectKey{Name: name}, &n); err != nil {
			return err
		}
		set(&n)
		return p.client.Update(ctx, &n)
	})
}

// look checks what must hold at every instant.
func (p *play) look(ctx context.Context) {
	var upgrades v1alpha1.NodeUpgradeList
	var nodes corev1.NodeList
	if p.client.List(ctx, &upgrades) != nil || p.client.List(ctx, &nodes) != nil {
		return
	}
	var masters, out []string
	for _, nu := range upgrades.Items {
		if nu.Spec.NodeType == v1alpha1.NodeTypeControlPlane && !nu.Spec.Hold && !nu.Status.Phase.Ended() {
			masters = append(masters, nu.Name)
		}
	}
	for _, n := range nodes.Items {
		if _, master := n.Labels[observe.LabelControlPlane]; !master && n.Spec.Unschedulable {
			out = append(out, n.Name)
		}
	}
	p.note(func() {
		if len(masters) > 1 {
			p.violations = append(p.violations, fmt.Sprintf("control planes in flight at once: %v", masters))
		}
		if len(out) > 1 {
			p.violations = append(p.violations, fmt.Sprintf("workers out of service at once: %v", out))
		}
	})
}

func (p *play) seen() (order, violations []string, created map[string]int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := map[string]int{}
	for k, v := range p.created {
		c[k] = v
	}
	return slices.Clone(p.order), slices.Clone(p.violations), c
}
