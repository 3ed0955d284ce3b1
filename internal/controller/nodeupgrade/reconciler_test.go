package nodeupgrade

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"golang.org/x/time/rate"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/node/spec"
)

func TestANodeIsUpgraded(t *testing.T) {
	w := newWorld(t, node("worker-0", false), node("worker-1", false))
	w.upgrade(worker("worker-0"))
	r := w.manager()
	w.Expect(w.settle(r)).To(Succeed())

	pod := w.pod("worker-0", RoleUpgrader)
	w.Expect(pod).NotTo(BeNil())
	w.Expect(pod.Spec.NodeName).To(Equal("worker-0"))
	told, err := spec.Parse(pod.Spec.InitContainers[0].Env[0].Value)
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(told.DrainNode).To(BeTrue(), told.DrainReason)
	w.Expect(told.NodeUID).To(Equal(string(w.node("worker-0").UID)))
	w.Expect(told.Image).To(Equal(image))

	w.toTheEnd(r)
	nu := w.get()
	w.Expect(nu.Status.Completed).To(BeTrue())
	w.Expect(meta.IsStatusConditionTrue(nu.Status.Conditions, v1alpha1.ConditionPostUpgradeCleanupCompleted)).To(BeTrue())
	for _, s := range nu.Status.Steps {
		w.Expect(s.State).To(Equal(v1alpha1.StepSucceeded), string(s.Name))
		w.Expect(s.Attempt).To(Equal(int32(1)), string(s.Name))
	}
}

// toTheEnd plays the kubelet until the upgrade ends.
func (w *world) toTheEnd(r *Reconciler) {
	w.t.Helper()
	for range 100 {
		w.Expect(w.settle(r)).To(Succeed())
		nu := w.get()
		if nu.Status.Phase.Ended() {
			return
		}
		w.kubeletActs(nu, 1)
		w.clock.SetTime(w.clock.Now().Add(20 * time.Second))
	}
	w.t.Fatal("the upgrade does not end")
}

// kubeletActs runs some steps of the Pod that is at work.
func (w *world) kubeletActs(nu *v1alpha1.NodeUpgrade, steps int) {
	for _, role := range roles {
		if pod := w.pod(nu.Spec.Machine.Name, role); pod != nil && !ended(pod) {
			for range steps {
				if w.kubeletRuns(pod) {
					return
				}
			}
			return
		}
	}
}

func TestAManagerKilledAfterAnyOfItsWritesGoesOn(t *testing.T) {
	for _, tt := range []struct {
		name    string
		spec    v1alpha1.NodeUpgradeSpec
		created map[string]int
		writes  int
	}{
		{"a control plane", controlPlaneSpec("cp-0"), map[string]int{"cp-0-etcd-backup": 1, "cp-0-node-upgrader": 1}, 8},
		// Its progress is kept for oneself all the while, so that whoever takes over knows only what had to be told.
		{"a worker that is held first", heldWorker("worker-1"), map[string]int{"worker-1-node-stager": 1, "worker-1-node-upgrader": 1}, 6},
	} {
		t.Run(tt.name, func(t *testing.T) {
			survived := 0
			for write, killed := 1, true; killed && write < 100; write++ {
				killed = false
				t.Run(fmt.Sprintf("killed after write %d", write), func(t *testing.T) { killed = killedAfter(t, write, tt.spec, tt.created) })
				if killed {
					survived++
				}
			}
			NewWithT(t).Expect(survived).To(BeNumerically(">=", tt.writes), "the manager was killed that often")
		})
	}
}

func controlPlaneSpec(name string) v1alpha1.NodeUpgradeSpec {
	s := worker(name)
	s.NodeType, s.FirstNodeToBeUpgraded = v1alpha1.NodeTypeControlPlane, true
	return s
}

func heldWorker(name string) v1alpha1.NodeUpgradeSpec {
	s := worker(name)
	s.Hold = true
	return s
}

// killedAfter upgrades a node by a manager that is killed after one of its writes, and another that goes on. It says whether there was
// such a write.
func killedAfter(t *testing.T, write int, s v1alpha1.NodeUpgradeSpec, want map[string]int) (killed bool) {
	w := newWorld(t, node("cp-0", true), node("cp-1", true), node("worker-1", false))
	w.create(&corev1.Pod{ObjectMeta: etcdPod, Spec: corev1.PodSpec{NodeName: "cp-0", Containers: []corev1.Container{{Name: "etcd", Image: "etcd"}}}})
	w.upgrade(s)
	created := map[string]int{}
	counting := interceptor.NewClient(w.client, interceptor.Funcs{Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
		err := c.Create(ctx, o, opts...)
		if err == nil {
			created[o.GetName()]++
		}
		return err
	}})
	r := w.silent(mortal(counting, write))
	for range 60 {
		if err := w.settle(r); err != nil {
			w.Expect(errors.Is(err, errKilled)).To(BeTrue(), err.Error())
			killed = true
			r = w.silent(counting)
			continue
		}
		nu := w.get()
		if nu.Status.Phase.Ended() {
			break
		}
		if nu.Status.Phase == v1alpha1.NodeStaged && nu.Spec.Hold {
			nu.Spec.Hold = false
			w.Expect(w.client.Update(w.ctx, nu)).To(Succeed())
			continue
		}
		w.kubeletActs(nu, 5)
	}
	nu := w.get()
	w.Expect(nu.Status.Phase).To(Equal(v1alpha1.NodeCompleted), "%+v", nu.Status)
	w.Expect(nu.Status.Attempts+nu.Status.Interruptions).To(BeZero(), "a killed manager is not the node's failure")
	w.Expect(created).To(Equal(want), "nothing is started twice")
	for _, step := range nu.Status.Steps {
		w.Expect(step.State).To(Equal(v1alpha1.StepSucceeded), string(step.Name))
		w.Expect(step.Attempt).To(Equal(int32(1)), "%s is counted once, whoever saw it", step.Name)
	}
	return killed
}

// silent is a manager that tells no progress unless it must.
func (w *world) silent(c client.WithWatch) *Reconciler {
	r := w.managerWith(c)
	r.untold.tell, r.untold.byName = rate.NewLimiter(0, 0), map[types.NamespacedName]kept{}
	return r
}

func TestAStaleCacheStartsNoPod(t *testing.T) {
	w := newWorld(t, node("worker-0", false), node("worker-1", false))
	s := worker("worker-0")
	s.Hold = true
	w.upgrade(s)
	w.Expect(w.settle(w.manager())).To(Succeed())
	stale := w.get() // Staging, with its stager

	nu := w.get()
	nu.Spec.Abort = true
	w.Expect(w.client.Update(w.ctx, nu)).To(Succeed())
	w.Expect(w.settle(w.manager())).To(Succeed())
	w.kubeletEnds(w.pod("worker-0", RoleStager))
	w.Expect(w.settle(w.manager())).To(Succeed())
	w.Expect(w.get().Status.Phase).To(Equal(v1alpha1.NodeAborted))

	behind := interceptor.NewClient(w.client, interceptor.Funcs{Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
		if nu, ok := o.(*v1alpha1.NodeUpgrade); ok {
			stale.DeepCopyInto(nu)
			return nil
		}
		return c.Get(ctx, key, o, opts...)
	}})
	w.Expect(w.settle(w.managerWith(behind))).To(Succeed())
	w.Expect(w.pod("worker-0", RoleStager)).To(BeNil())
	w.Expect(w.pod("worker-0", RoleUpgrader)).To(BeNil())
	w.Expect(w.get().Status.Phase).To(Equal(v1alpha1.NodeAborted))
}

func TestWhatCannotBeReadChangesNothing(t *testing.T) {
	w := newWorld(t, node("worker-0", false), node("worker-1", false))
	w.upgrade(worker("worker-0"))
	r := w.manager()
	w.Expect(w.settle(r)).To(Succeed())
	for range 5 {
		w.kubeletRuns(w.pod("worker-0", RoleUpgrader))
	}
	w.Expect(w.settle(r)).To(Succeed())
	before := w.get().Status

	for _, kind := range []client.Object{&corev1.Pod{}, &corev1.Node{}, &v1alpha1.KubernetesVersion{}} {
		away := interceptor.NewClient(w.client, interceptor.Funcs{
			Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
				if fmt.Sprintf("%T", o) == fmt.Sprintf("%T", kind) {
					return apierrors.NewServiceUnavailable("the API server is away")
				}
				return c.Get(ctx, key, o, opts...)
			},
			List: func(ctx context.Context, c client.WithWatch, l client.ObjectList, opts ...client.ListOption) error {
				if _, ok := l.(*corev1.NodeList); ok {
					return apierrors.NewServerTimeout(schema.GroupResource{Resource: "nodes"}, "list", 1)
				}
				return c.List(ctx, l, opts...)
			},
		})
		w.Expect(w.settle(w.managerWith(away))).NotTo(Succeed())
		w.Expect(w.get().Status).To(Equal(before))
	}
}

func TestNodesAreListedOnlyWhereTheOneThatTookPodsDoesNoMore(t *testing.T) {
	w := newWorld(t, node("worker-0", false), node("worker-1", false), node("worker-2", false))
	w.upgrade(worker("worker-0"))
	lists := 0
	r := w.managerWith(interceptor.NewClient(w.client, interceptor.Funcs{
		List: func(ctx context.Context, c client.WithWatch, l client.ObjectList, opts ...client.ListOption) error {
			if _, ok := l.(*corev1.NodeList); ok {
				lists++
			}
			return c.List(ctx, l, opts...)
		},
	}))
	takers := func() (names []string) {
		o, err := r.observe(w.ctx, w.get())
		w.Expect(err).NotTo(HaveOccurred())
		for _, n := range o.Cluster.Nodes {
			if n.Name != "worker-0" && n.TakesPods() {
				names = append(names, n.Name)
			}
		}
		return names
	}
	first := takers()
	w.Expect(first).NotTo(BeEmpty())
	w.Expect(lists).To(Equal(1))
	w.Expect(takers()).To(HaveLen(1))
	w.Expect(lists).To(Equal(1), "the one that took pods still does")
	w.cordon("worker-1", nil)
	w.Expect(takers()).To(Equal([]string{"worker-2"}))
	w.Expect(takers()).To(Equal([]string{"worker-2"}))
	w.Expect(lists).To(Equal(2))
	w.Expect(w.client.Delete(w.ctx, w.node("worker-2"))).To(Succeed())
	w.Expect(takers()).To(BeEmpty(), "no other node takes pods")
	w.Expect(lists).To(Equal(4), "a few of them, then all")
}

func TestACordonThatIsLeftOnANodeThatIsDoneIsLiftedByTheNextManager(t *testing.T) {
	w := newWorld(t, node("worker-0", false), node("worker-1", false))
	w.upgrade(worker("worker-0"))
	w.toTheEnd(w.manager())
	w.Expect(w.get().Status.Completed).To(BeTrue())
	w.cordon("worker-0", map[string]string{v1alpha1.AnnotationCordonedBy: string(w.get().UID)})
	w.Expect(w.settle(w.manager())).To(Succeed())
	w.Expect(w.node("worker-0").Spec.Unschedulable).To(BeFalse())
	w.Expect(w.node("worker-0").Annotations).NotTo(HaveKey(v1alpha1.AnnotationCordonedBy))
}

func TestCordons(t *testing.T) {
	w := newWorld(t, node("worker-0", false), node("worker-1", false))
	w.upgrade(worker("worker-0"))
	r := w.manager()
	w.Expect(w.settle(r)).To(Succeed())
	uid := string(w.get().UID)

	w.cordon("worker-0", map[string]string{v1alpha1.AnnotationCordonedBy: uid})
	w.kubeletFails(w.pod("worker-0", RoleUpgrader), spec.ExitDrainTimedOut, "PodDisruptionBudget default/web allows no disruption")
	w.Expect(w.settle(r)).To(Succeed())
	w.Expect(w.get().Status.Phase).To(Equal(v1alpha1.NodeFailed))
	w.Expect(meta.FindStatusCondition(w.get().Status.Conditions, v1alpha1.ConditionReady).Message).To(ContainSubstring("default/web"))
	w.Expect(w.node("worker-0").Spec.Unschedulable).To(BeFalse(), "the own cordon is lifted")
	w.Expect(w.node("worker-0").Annotations).NotTo(HaveKey(v1alpha1.AnnotationCordonedBy))

	w.cordon("worker-0", nil)
	nu := w.get()
	nu.Spec.Retry = 1
	w.Expect(w.client.Update(w.ctx, nu)).To(Succeed())
	w.clock.SetTime(w.clock.Now().Add(time.Minute))
	w.toTheEnd(r)
	w.Expect(w.get().Status.Phase).To(Equal(v1alpha1.NodeCompleted))
	w.Expect(w.node("worker-0").Spec.Unschedulable).To(BeTrue(), "a person's cordon stays")
}

func TestADeletedUpgradeLetsTheStepEndAndGivesTheNodeBack(t *testing.T) {
	w := newWorld(t, node("worker-0", false), node("worker-1", false))
	w.upgrade(worker("worker-0"))
	r := w.manager()
	w.Expect(w.settle(r)).To(Succeed())
	w.kubeletRuns(w.pod("worker-0", RoleUpgrader))
	w.cordon("worker-0", map[string]string{v1alpha1.AnnotationCordonedBy: string(w.get().UID)})

	w.Expect(w.client.Delete(w.ctx, w.get())).To(Succeed())
	w.Expect(w.settle(r)).To(Succeed())
	pod := w.pod("worker-0", RoleUpgrader)
	w.Expect(pod.DeletionTimestamp).NotTo(BeNil())
	w.Expect(*pod.DeletionGracePeriodSeconds).To(BeNumerically(">=", 600), "the step under way has time to end")
	w.Expect(w.get()).NotTo(BeNil(), "the object stays until the step has ended")
	w.Expect(w.node("worker-0").Spec.Unschedulable).To(BeTrue())

	w.kubeletEnds(pod)
	w.Expect(w.settle(r)).To(Succeed())
	w.Expect(w.node("worker-0").Spec.Unschedulable).To(BeFalse())
	w.Expect(apierrors.IsNotFound(w.client.Get(w.ctx, w.key, &v1alpha1.NodeUpgrade{}))).To(BeTrue())
}

func TestANodeThatLostPowerIsTakenUpAgain(t *testing.T) {
	w := newWorld(t, node("worker-0", false), node("worker-1", false))
	w.upgrade(worker("worker-0"))
	r := w.manager()
	w.Expect(w.settle(r)).To(Succeed())
	for range 6 {
		w.kubeletRuns(w.pod("worker-0", RoleUpgrader))
	}
	first := w.pod("worker-0", RoleUpgrader)
	w.kubeletFails(first, 255, "")
	w.Expect(w.settle(r)).To(Succeed())
	w.clock.SetTime(w.clock.Now().Add(time.Minute))
	w.Expect(w.settle(r)).To(Succeed())
	second := w.pod("worker-0", RoleUpgrader)
	w.Expect(second.UID).NotTo(Equal(first.UID))
	told, err := spec.Parse(second.Spec.InitContainers[0].Env[0].Value)
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(told.Attempt).To(Equal(2))
	w.toTheEnd(r)
	w.Expect(w.get().Status.Completed).To(BeTrue())
	w.Expect(w.get().Status.Interruptions).To(Equal(int32(1)))
}
