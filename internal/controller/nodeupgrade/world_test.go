package nodeupgrade

import (
	"context"
	"errors"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/node/spec"
	"refit.dev/refit/internal/testcluster"
)

// world is an API server with a few nodes, of which the test plays the kubelets.
type world struct {
	*WithT
	t      *testing.T
	ctx    context.Context
	client client.WithWatch
	clock  *clocktesting.FakePassiveClock
	key    client.ObjectKey
}

func newWorld(t *testing.T, nodes ...*corev1.Node) *world {
	t.Helper()
	w := &world{WithT: NewWithT(t), t: t, ctx: t.Context(), client: testcluster.Start(t).Client, clock: clocktesting.NewFakePassiveClock(time.Now())}
	w.create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: v1alpha1.Namespace}})
	w.create(&v1alpha1.KubernetesVersion{ObjectMeta: metav1.ObjectMeta{Name: to}, Spec: v1alpha1.KubernetesVersionSpec{Version: to, Image: image}})
	for _, n := range nodes {
		status := n.Status
		n.UID = ""
		w.create(n)
		n.Status = status
		w.Expect(w.client.Status().Update(w.ctx, n)).To(Succeed())
	}
	t.Cleanup(w.clear)
	return w
}

func (w *world) create(o client.Object) {
	err := w.client.Create(w.ctx, o)
	if apierrors.IsAlreadyExists(err) {
		return
	}
	w.Expect(err).NotTo(HaveOccurred())
}

func (w *world) clear() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var upgrades v1alpha1.NodeUpgradeList
	w.Expect(w.client.List(ctx, &upgrades)).To(Succeed())
	for i := range upgrades.Items {
		upgrades.Items[i].Finalizers = nil
		w.Expect(client.IgnoreNotFound(w.client.Update(ctx, &upgrades.Items[i]))).To(Succeed())
	}
	w.Expect(w.client.DeleteAllOf(ctx, &v1alpha1.NodeUpgrade{}, client.InNamespace(v1alpha1.Namespace))).To(Succeed())
	w.Expect(w.client.DeleteAllOf(ctx, &corev1.Pod{}, client.InNamespace(v1alpha1.Namespace), client.GracePeriodSeconds(0))).To(Succeed())
	w.Expect(w.client.DeleteAllOf(ctx, &corev1.Node{})).To(Succeed())
}

// upgrade creates the NodeUpgrade that the world is about.
func (w *world) upgrade(s v1alpha1.NodeUpgradeSpec) {
	s.KubernetesVersion = to
	nu := &v1alpha1.NodeUpgrade{ObjectMeta: metav1.ObjectMeta{Name: s.Machine.Name + "-" + to, Namespace: v1alpha1.Namespace}, Spec: s}
	w.create(nu)
	w.key = client.ObjectKeyFromObject(nu)
}

func worker(name string) v1alpha1.NodeUpgradeSpec {
	return v1alpha1.NodeUpgradeSpec{Machine: corev1.ObjectReference{Kind: "Node", Name: name}, NodeType: v1alpha1.NodeTypeWorker}
}

// manager is a reconciler that has just been started.
func (w *world) manager() *Reconciler { return w.managerWith(w.client) }

func (w *world) managerWith(c client.WithWatch) *Reconciler {
	return &Reconciler{Client: compacting(c), Live: w.client, Recorder: events.NewFakeRecorder(1000), Clock: w.clock, Limits: DefaultLimits()}
}

// compacting reads what the manager's cache would have.
func compacting(c client.WithWatch) client.WithWatch {
	return interceptor.NewClient(c, interceptor.Funcs{Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
		err := c.Get(ctx, key, o, opts...)
		switch seen := o.(type) {
		case *corev1.Pod:
			CompactPod(seen)
		case *v1alpha1.NodeUpgrade:
			CompactClaim(seen)
		}
		return err
	}})
}

// settle reconciles until nothing changes any more.
func (w *world) settle(r *Reconciler) error {
	for range 20 {
		before := w.version()
		if _, err := r.Reconcile(w.ctx, ctrl.Request{NamespacedName: w.key}); err != nil {
			return err
		}
		if w.version() == before {
			return nil
		}
	}
	return errors.New("it does not settle within 20 reconciles")
}

// version tells whether anything that matters changed.
func (w *world) version() string {
	var nu v1alpha1.NodeUpgrade
	if err := w.client.Get(w.ctx, w.key, &nu); err != nil {
		w.Expect(apierrors.IsNotFound(err)).To(BeTrue())
		return "gone"
	}
	v := nu.ResourceVersion
	for _, role := range roles {
		var pod corev1.Pod
		if w.client.Get(w.ctx, client.ObjectKey{Namespace: w.key.Namespace, Name: PodName(nu.Spec.Machine.Name, role)}, &pod) == nil {
			v += " " + string(pod.UID) + pod.ResourceVersion
		}
	}
	return v + w.node(nu.Spec.Machine.Name).ResourceVersion
}

func (w *world) get() *v1alpha1.NodeUpgrade {
	var nu v1alpha1.NodeUpgrade
	w.Expect(w.client.Get(w.ctx, w.key, &nu)).To(Succeed())
	return &nu
}

func (w *world) node(name string) *corev1.Node {
	var n corev1.Node
	w.Expect(client.IgnoreNotFound(w.client.Get(w.ctx, client.ObjectKey{Name: name}, &n))).To(Succeed())
	return &n
}

// pod is the Pod of a role, nil where there is none.
func (w *world) pod(node string, role Role) *corev1.Pod {
	var pod corev1.Pod
	err := w.client.Get(w.ctx, client.ObjectKey{Namespace: w.key.Namespace, Name: PodName(node, role)}, &pod)
	if apierrors.IsNotFound(err) {
		return nil
	}
	w.Expect(err).NotTo(HaveOccurred())
	return &pod
}

// kubeletRuns has the kubelet run the next step of a Pod to its end, and says whether that was the last.
func (w *world) kubeletRuns(pod *corev1.Pod) (last bool) {
	now := metav1.NewTime(w.clock.Now())
	done := corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{StartedAt: now, FinishedAt: now, Message: "done"}}
	n := len(pod.Status.InitContainerStatuses)
	if n < len(pod.Spec.InitContainers) {
		pod.Status.InitContainerStatuses = append(pod.Status.InitContainerStatuses, corev1.ContainerStatus{Name: pod.Spec.InitContainers[n].Name, State: done})
		if pod.Spec.InitContainers[n].Name == string(v1alpha1.StepKubelet) {
			w.kubeletReports(pod.Spec.NodeName, func(n *corev1.Node) { n.Status.NodeInfo.KubeletVersion = to })
		}
	} else {
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: pod.Spec.Containers[0].Name, State: done}}
		pod.Status.Phase = corev1.PodSucceeded
		last = true
	}
	w.Expect(w.client.Status().Update(w.ctx, pod)).To(Succeed())
	return last
}

// kubeletFails has the next step of a Pod end with a code.
func (w *world) kubeletFails(pod *corev1.Pod, code spec.ExitCode, message string) {
	now := metav1.NewTime(w.clock.Now())
	n := len(pod.Status.InitContainerStatuses)
	pod.Status.InitContainerStatuses = append(pod.Status.InitContainerStatuses, corev1.ContainerStatus{Name: pod.Spec.InitContainers[n].Name,
		State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: int32(code), Message: message, StartedAt: now, FinishedAt: now}}})
	pod.Status.Phase = corev1.PodFailed
	w.Expect(w.client.Status().Update(w.ctx, pod)).To(Succeed())
}

// kubeletEnds has the kubelet end a Pod that was deleted.
func (w *world) kubeletEnds(pod *corev1.Pod) {
	w.Expect(pod.DeletionTimestamp).NotTo(BeNil())
	w.Expect(w.client.Delete(w.ctx, pod, &client.DeleteOptions{GracePeriodSeconds: ptr.To[int64](0)})).To(Succeed())
}

func (w *world) kubeletReports(name string, set func(*corev1.Node)) {
	n := w.node(name)
	set(n)
	w.Expect(w.client.Status().Update(w.ctx, n)).To(Succeed())
}

func (w *world) cordon(name string, annotations map[string]string) {
	n := w.node(name)
	n.Spec.Unschedulable, n.Annotations = true, annotations
	w.Expect(w.client.Update(w.ctx, n)).To(Succeed())
}

var errKilled = errors.New("the manager was killed")

// mortal is a client whose process is killed right after a number of writes: that write is made, nothing after it is.
func mortal(c client.WithWatch, writes int) client.WithWatch {
	after := func(err error) error {
		writes--
		if err == nil && writes <= 0 {
			return errKilled
		}
		return err
	}
	return interceptor.NewClient(c, interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			return after(c.Create(ctx, o, opts...))
		},
		Delete: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
			return after(c.Delete(ctx, o, opts...))
		},
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
			return after(c.Patch(ctx, o, p, opts...))
		},
		SubResourceUpdate: func(ctx context.Context, c client.Client, sub string, o client.Object, opts ...client.SubResourceUpdateOption) error {
			return after(c.SubResource(sub).Update(ctx, o, opts...))
		},
	})
}
