package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/rest"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/utils/clock"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/node/cluster"
	"refit.dev/refit/internal/node/host"
	"refit.dev/refit/internal/node/spec"
	"refit.dev/refit/internal/node/task"
)

const uid = "upgrade-uid"

var podsResource = corev1.SchemeGroupVersion.WithResource("pods")

// world is a cluster of two nodes, of which w-1 is drained, and what the test knows of it.
type world struct {
	*fake.Clientset
	task *task.Task
	// refusals are by pod the times that its eviction is refused still; below 0 always.
	refusals map[string]int
	// stuck pods do not end.
	stuck map[string]bool
	// back are pods in whose place another comes to the same node.
	back    map[string]bool
	evicted []string
	graces  map[string]*int64
	// watched is closed once the pods are watched. The fake, unlike an API server, tells a watch nothing of what came before it.
	watched chan struct{}
}

func newWorld(objects ...runtime.Object) *world {
	ready := corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}}
	nodes := []runtime.Object{
		&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "w-1", UID: "node-uid", ResourceVersion: "1"}, Status: ready},
		&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "w-2", UID: "other-uid"}, Status: ready},
	}
	w := &world{Clientset: fake.NewClientset(append(nodes, objects...)...), refusals: map[string]int{}, stuck: map[string]bool{}, back: map[string]bool{}, graces: map[string]*int64{},
		watched: make(chan struct{})}
	w.PrependReactor("create", "pods", w.evict)
	w.PrependWatchReactor("pods", w.watch)
	c := clock.RealClock{}
	w.task = &task.Task{Host: &host.Host{Clock: c, Log: host.NewLog(io.Discard, c)}, Spec: spec.Spec{UpgradeUID: uid, NodeName: "w-1",
		NodeUID: "node-uid", Version: "v1.36.3", NodeType: v1alpha1.NodeTypeWorker, DrainNode: true,
		Drain: spec.Drain{Timeout: spec.Duration(20 * time.Second), OnTimeout: v1alpha1.DrainFail}}}
	return w
}

func (w *world) watch(action clienttesting.Action) (bool, watch.Interface, error) {
	events, err := w.Tracker().Watch(podsResource, action.GetNamespace(), action.(clienttesting.WatchActionImpl).ListOptions)
	select {
	case <-w.watched:
	default:
		close(w.watched)
	}
	return true, events, err
}

func (w *world) evict(action clienttesting.Action) (bool, runtime.Object, error) {
	if action.GetSubresource() != "eviction" {
		return false, nil, nil
	}
	e := action.(clienttesting.CreateAction).GetObject().(*policyv1.Eviction)
	found, err := w.Tracker().Get(podsResource, e.Namespace, e.Name)
	if err != nil {
		return true, nil, err
	}
	if *e.DeleteOptions.Preconditions.UID != found.(*corev1.Pod).UID {
		return true, nil, apierrors.NewConflict(schema.GroupResource{Resource: "pods"}, e.Name, errors.New("the UID differs"))
	}
	if n := w.refusals[e.Name]; n != 0 {
		w.refusals[e.Name] = n - 1
		refusal := apierrors.NewTooManyRequests("Cannot evict pod as it would violate the pod's disruption budget.", 0)
		refusal.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: policyv1.DisruptionBudgetCause, Message: "The disruption budget web needs 2 healthy pods and has 2 currently"}}
		return true, nil, refusal
	}
	w.evicted = append(w.evicted, e.Name)
	w.graces[e.Name] = e.DeleteOptions.GracePeriodSeconds
	if w.stuck[e.Name] {
		return true, nil, nil
	}
	go w.end(found.(*corev1.Pod), w.back[e.Name])
	return true, nil, nil
}

// end ends a pod, once that is seen, and before it puts another in its place where one comes back.
func (w *world) end(pod *corev1.Pod, back bool) {
	<-w.watched
	var err error
	if back {
		again := pod.DeepCopy()
		again.Name, again.UID = again.Name+"-again", again.UID+"-again"
		err = w.Tracker().Add(again)
	}
	if err = errors.Join(err, w.Tracker().Delete(podsResource, pod.Namespace, pod.Name)); err != nil {
		panic(err)
	}
}

func (w *world) drain(t *testing.T) (string, error) {
	return cluster.Drain{Task: w.task, Client: w.Clientset}.Run(t.Context())
}

func (w *world) node(g *WithT) *corev1.Node {
	n, err := w.CoreV1().Nodes().Get(context.Background(), "w-1", metav1.GetOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	return n
}

// pod is one of w-1's.
func pod(name string, change ...func(*corev1.Pod)) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID("uid-" + name)},
		Spec: corev1.PodSpec{NodeName: "w-1"}, Status: corev1.PodStatus{Phase: corev1.PodRunning}}
	for _, c := range change {
		c(p)
	}
	return p
}

func ownedBy(kind string) func(*corev1.Pod) {
	yes := true
	return func(p *corev1.Pod) {
		p.OwnerReferences = []metav1.OwnerReference{{Kind: kind, Name: "owner", Controller: &yes}}
	}
}

func toleratesCordon(p *corev1.Pod) {
	p.Spec.Tolerations = []corev1.Toleration{{Key: corev1.TaintNodeUnschedulable, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule}}
}

func TestDrain(t *testing.T) {
	t.Run("cordons the node in its own name and moves away what has to leave, and nothing else", func(t *testing.T) {
		g := NewWithT(t)
		w := newWorld(pod("web-1", ownedBy("ReplicaSet")), pod("bare"),
			pod("daemon", ownedBy("DaemonSet")),
			pod("static", func(p *corev1.Pod) { p.Annotations = map[string]string{corev1.MirrorPodAnnotationKey: "x"} }),
			pod("done", func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded }),
			pod("upgrader", func(p *corev1.Pod) {
				p.Namespace, p.Labels = v1alpha1.Namespace, map[string]string{v1alpha1.LabelNode: "w-1"}
			}))
		g.Expect(w.drain(t)).To(ContainSubstring("moved 2 pods away"))
		g.Expect(w.evicted).To(ConsistOf("web-1", "bare"))
		g.Expect(w.node(g).Spec.Unschedulable).To(BeTrue())
		g.Expect(w.node(g).Annotations).To(HaveKeyWithValue(v1alpha1.AnnotationCordonedBy, uid))
	})

	t.Run("leaves a node alone that is not to be drained, and says why", func(t *testing.T) {
		g := NewWithT(t)
		w := newWorld(pod("web-1"))
		w.task.Spec.DrainNode, w.task.Spec.DrainReason = false, "it is the only node"
		done, message, err := cluster.Drain{Task: w.task, Client: w.Clientset}.Done(t.Context())
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(done).To(BeTrue())
		g.Expect(message).To(Equal("not drained: it is the only node"))
		g.Expect(w.node(g).Spec.Unschedulable).To(BeFalse())
	})

	t.Run("asks again for an eviction that a budget refuses, when a pod changes", func(t *testing.T) {
		g := NewWithT(t)
		w := newWorld(pod("web-1"))
		w.refusals["web-1"] = 1
		g.Expect(w.drain(t)).To(ContainSubstring("moved 1 pods away"))
	})

	t.Run("names the pods left and the budget that holds them, lifts its cordon, and ends with its own code", func(t *testing.T) {
		g := NewWithT(t)
		w := newWorld(pod("web-1"), pod("slow", func(p *corev1.Pod) { p.Finalizers = []string{"example.com/wait"} }))
		w.task.Spec.Drain.Timeout = spec.Duration(time.Second)
		w.refusals["web-1"], w.stuck["slow"] = -1, true
		_, err := w.drain(t)
		g.Expect(spec.CodeOf(err)).To(Equal(spec.ExitDrainTimedOut))
		g.Expect(err).To(MatchError(And(ContainSubstring("default/web-1 (The disruption budget web needs 2 healthy pods"),
			ContainSubstring("default/slow"), ContainSubstring("uncordoned"))))
		g.Expect(w.node(g).Spec.Unschedulable).To(BeFalse())
		g.Expect(w.node(g).Annotations).NotTo(HaveKey(v1alpha1.AnnotationCordonedBy))
	})

	t.Run("keeps a cordon that a person set, also when its time is over", func(t *testing.T) {
		g := NewWithT(t)
		w := newWorld(pod("web-1"))
		n := w.node(g)
		n.Spec.Unschedulable = true
		_, err := w.CoreV1().Nodes().Update(t.Context(), n, metav1.UpdateOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		w.task.Spec.Drain.Timeout = spec.Duration(time.Second)
		w.refusals["web-1"] = -1
		_, err = w.drain(t)
		g.Expect(err).To(MatchError(ContainSubstring("stays cordoned")))
		g.Expect(w.node(g).Spec.Unschedulable).To(BeTrue())
		g.Expect(w.node(g).Annotations).NotTo(HaveKey(v1alpha1.AnnotationCordonedBy))
	})

	t.Run("takes over the cordon that an earlier upgrade of Refit left", func(t *testing.T) {
		g := NewWithT(t)
		w := newWorld()
		n := w.node(g)
		n.Spec.Unschedulable, n.Annotations = true, map[string]string{v1alpha1.AnnotationCordonedBy: "earlier"}
		_, err := w.CoreV1().Nodes().Update(t.Context(), n, metav1.UpdateOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		done, _, err := cluster.Drain{Task: w.task, Client: w.Clientset}.Done(t.Context())
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(done).To(BeFalse())
		g.Expect(w.drain(t)).To(ContainSubstring("took over"))
		g.Expect(w.node(g).Annotations).To(HaveKeyWithValue(v1alpha1.AnnotationCordonedBy, uid))
	})

	t.Run("deletes the pods that are left where the policy is Force, and goes on", func(t *testing.T) {
		g := NewWithT(t)
		w := newWorld(pod("web-1"))
		w.task.Spec.Drain.Timeout, w.task.Spec.Drain.OnTimeout = spec.Duration(time.Second), v1alpha1.DrainForce
		w.refusals["web-1"] = -1
		g.Expect(w.drain(t)).To(ContainSubstring("1 deleted by force"))
		g.Expect(w.evicted).To(BeEmpty())
		g.Expect(w.node(g).Spec.Unschedulable).To(BeTrue())
	})

	t.Run("shortens grace periods that are longer than the policy's, and no others", func(t *testing.T) {
		g := NewWithT(t)
		long, short := int64(3600), int64(5)
		w := newWorld(pod("patient", func(p *corev1.Pod) { p.Spec.TerminationGracePeriodSeconds = &long }),
			pod("quick", func(p *corev1.Pod) { p.Spec.TerminationGracePeriodSeconds = &short }))
		limit := int64(60)
		w.task.Spec.Drain.GracePeriodSeconds = &limit
		_, err := w.drain(t)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(w.graces["patient"]).To(HaveValue(Equal(limit)))
		g.Expect(w.graces["quick"]).To(BeNil())
	})

	t.Run("leaves a pod that can run nowhere else, and needs none of its budget", func(t *testing.T) {
		g := NewWithT(t)
		w := newWorld(pod("manager", toleratesCordon, func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{"control-plane": ""} }), pod("web-1"))
		g.Expect(w.drain(t)).To(ContainSubstring("moved 1 pods away; can run nowhere else: default/manager"))
		g.Expect(w.evicted).To(Equal([]string{"web-1"}))
	})

	t.Run("moves a pod that tolerates the cordon once, and leaves it when it comes back", func(t *testing.T) {
		g := NewWithT(t)
		w := newWorld(pod("manager", toleratesCordon))
		w.back["manager"] = true
		g.Expect(w.drain(t)).To(ContainSubstring("moved 1 pods away; tolerate the cordon and came back: default/manager-again"))
		g.Expect(w.evicted).To(Equal([]string{"manager"}))
		done, message, err := cluster.Drain{Task: w.task, Client: w.Clientset}.Done(t.Context())
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(done).To(BeTrue(), message)
	})

	t.Run("rides over errors of the API server", func(t *testing.T) {
		g := NewWithT(t)
		w := newWorld(pod("web-1"))
		left := 3
		w.PrependReactor("*", "*", func(clienttesting.Action) (bool, runtime.Object, error) {
			if left == 0 {
				return false, nil, nil
			}
			left--
			return true, nil, fmt.Errorf("connection refused")
		})
		g.Expect(w.drain(t)).To(ContainSubstring("moved 1 pods away"))
	})

	t.Run("does not say that its time is over while nobody can tell which pods are left", func(t *testing.T) {
		g := NewWithT(t)
		w := newWorld(pod("web-1"))
		w.task.Spec.Drain.Timeout, w.task.Spec.Drain.OnTimeout = spec.Duration(time.Second), v1alpha1.DrainForce
		w.refusals["web-1"] = -1
		away := errors.New("no answer")
		w.PrependReactor("list", "pods", func(clienttesting.Action) (bool, runtime.Object, error) {
			select {
			case <-w.watched: // the drain runs
				return true, nil, apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "", away)
			default:
				return false, nil, nil
			}
		})
		_, err := w.drain(t)
		g.Expect(err).To(MatchError(ContainSubstring(away.Error())))
		g.Expect(spec.CodeOf(err)).To(Equal(spec.ExitFailed))
		g.Expect(w.node(g).Spec.Unschedulable).To(BeTrue(), "it is drained once more")
	})

	t.Run("refuses a node that was made anew under the same name", func(t *testing.T) {
		g := NewWithT(t)
		w := newWorld()
		w.task.Spec.NodeUID = "an-older-node"
		_, err := w.drain(t)
		g.Expect(spec.CodeOf(err)).To(Equal(spec.ExitRefused))
		g.Expect(err).To(MatchError(ContainSubstring("made anew")))
	})
}

func TestAnAPIServerThatAnswersIsNotAway(t *testing.T) {
	for code, away := range map[int]bool{http.StatusOK: false, http.StatusForbidden: false, http.StatusUnauthorized: false, http.StatusInternalServerError: true} {
		t.Run(http.StatusText(code), func(t *testing.T) {
			g := NewWithT(t)
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				g.Expect(r.URL.Path).To(Equal("/readyz"))
				w.WriteHeader(code)
			}))
			client, err := kubernetes.NewForConfig(&rest.Config{Host: server.URL})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(cluster.Answers(client)(t.Context()) != nil).To(Equal(away))
			server.Close()
			g.Expect(cluster.Answers(client)(t.Context())).To(HaveOccurred(), "nobody is there")
		})
	}
}

func TestUncordon(t *testing.T) {
	for _, c := range []struct {
		name     string
		by       string
		cordoned bool
		want     string
		stays    bool
	}{
		{"lifts the cordon of this upgrade", uid, true, "uncordoned", false},
		{"keeps a person's cordon", "", true, "stays cordoned", true},
		{"keeps another upgrade's cordon", "another", true, "stays cordoned", true},
		{"has nothing to do on a node in service", "", false, "takes pods", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := NewWithT(t)
			w := newWorld()
			n := w.node(g)
			n.Spec.Unschedulable = c.cordoned
			if c.by != "" {
				n.Annotations = map[string]string{v1alpha1.AnnotationCordonedBy: c.by}
			}
			_, err := w.CoreV1().Nodes().Update(t.Context(), n, metav1.UpdateOptions{})
			g.Expect(err).NotTo(HaveOccurred())
			step := cluster.Uncordon{Task: w.task, Client: w.Clientset}
			done, message, err := step.Done(t.Context())
			g.Expect(err).NotTo(HaveOccurred())
			if !done {
				message, err = step.Run(t.Context())
				g.Expect(err).NotTo(HaveOccurred())
			}
			g.Expect(message).To(ContainSubstring(c.want))
			g.Expect(w.node(g).Spec.Unschedulable).To(Equal(c.stays))
		})
	}
}
