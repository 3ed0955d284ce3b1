package kubernetesupgrade

import (
	"context"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/observe"
	"refit.dev/refit/internal/rollout"
	"refit.dev/refit/internal/snapshot"
	"refit.dev/refit/internal/snapshot/fixture"
	"refit.dev/refit/internal/testcluster"
)

// seen is a cluster as it is observed.
type seen snapshot.Cluster

func (s *seen) Cluster(context.Context, observe.Freshness) (*snapshot.Cluster, error) {
	return (*snapshot.Cluster)(s), nil
}

func (*seen) Wrote(...client.Object) {}

// Nodes that an abort left are uncordoned after its end, and nothing else wakes it to count them.
func TestAnEndedUpgradeIsLookedAtForAWhile(t *testing.T) {
	c, u := fixture.Cluster(1, 1, "v1.35.4"), fixture.Upgrade("v1.36.3")
	u.Status = v1alpha1.KubernetesUpgradeStatus{State: v1alpha1.StateUpgradeAborted, CompletedAt: &metav1.Time{Time: fixture.Now},
		Nodes: v1alpha1.NodeCounts{Total: 2}, ObservedGeneration: 1}
	c.Upgrades = []v1alpha1.KubernetesUpgrade{*u}
	for after, want := range map[time.Duration]time.Duration{0: lookAgain, time.Hour: 0} {
		r := &Reconciler{Observer: (*seen)(c), Clock: clocktesting.NewFakePassiveClock(fixture.Now.Add(after))}
		result, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(u)})
		g := NewWithT(t)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(result.RequeueAfter).To(Equal(want), "%s after its end", after)
	}
}

// A manager that has not seen the abort yet may be about to begin nodes: of the two, one wins.
func TestWhoeverAbortsOrBeginsNodesTakesTheTurn(t *testing.T) {
	for kind, turns := range map[rollout.ActionKind]int64{rollout.Abort: 1, rollout.Start: 1, rollout.Retry: 1, rollout.Stage: 0} {
		t.Run(string(kind), func(t *testing.T) {
			g, u := NewWithT(t), fixture.Upgrade("v1.36.3")
			c := fake.NewClientBuilder().WithScheme(testcluster.Scheme()).WithObjects(u).WithStatusSubresource(u).Build()
			g.Expect(c.Get(t.Context(), client.ObjectKeyFromObject(u), u)).To(Succeed())
			of := func() *turn {
				return &turn{upgrade: u.DeepCopy(), decision: rollout.Decision{Status: u.Status, Actions: []rollout.Action{{Kind: kind, Node: "w-1"}}}}
			}
			first, second := of(), of()
			r := &Reconciler{Client: c, Clock: clocktesting.NewFakePassiveClock(fixture.Now), Recorder: events.NewFakeRecorder(9)}
			g.Expect(r.write(t.Context(), first)).To(Succeed())
			var now v1alpha1.KubernetesUpgrade
			g.Expect(c.Get(t.Context(), client.ObjectKeyFromObject(u), &now)).To(Succeed())
			g.Expect(now.Status.Turn).To(Equal(turns))
			if err := r.write(t.Context(), second); turns > 0 {
				g.Expect(apierrors.IsConflict(err)).To(BeTrue(), "%v", err)
			}
		})
	}
}

// asked keeps how fresh each look was asked to be.
type asked struct {
	seen
	looks []observe.Freshness
}

func (a *asked) Cluster(ctx context.Context, f observe.Freshness) (*snapshot.Cluster, error) {
	a.looks = append(a.looks, f)
	return a.seen.Cluster(ctx, f)
}

func TestALargeClusterIsLookedAtOnceWhereNodesAreBegunOneAfterAnother(t *testing.T) {
	g := NewWithT(t)
	of := func(nodes int, kinds ...rollout.ActionKind) *turn {
		t := &turn{seen: &snapshot.Cluster{Nodes: make([]snapshot.Node, nodes)}}
		for _, kind := range kinds {
			t.decision.Actions = append(t.decision.Actions, rollout.Action{Kind: kind})
		}
		return t
	}
	g.Expect(of(large, rollout.Stage, rollout.Start).leadsToMore()).To(BeTrue())
	g.Expect(of(large, rollout.Stage).leadsToMore()).To(BeFalse())
	g.Expect(of(large).leadsToMore()).To(BeFalse())
	g.Expect(of(large-1, rollout.Start).leadsToMore()).To(BeFalse())

	c, u := fixture.Cluster(1, 1, "v1.35.4"), fixture.Upgrade("v1.36.3")
	u.Status = v1alpha1.KubernetesUpgradeStatus{State: v1alpha1.StateUpgradeAborted, CompletedAt: &metav1.Time{Time: fixture.Now},
		Nodes: v1alpha1.NodeCounts{Total: 2}, ObservedGeneration: 1}
	c.Upgrades = []v1alpha1.KubernetesUpgrade{*u}
	observer := &asked{seen: seen(*c)}
	clk := clocktesting.NewFakePassiveClock(fixture.Now)
	r := &Reconciler{Observer: observer, Clock: clk, began: clk.Now()}
	for range 3 {
		_, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(u)})
		g.Expect(err).NotTo(HaveOccurred())
		clk.SetTime(clk.Now().Add(eager - time.Second))
	}
	g.Expect(observer.looks).To(Equal([]observe.Freshness{observe.Known, observe.Known, observe.Cached}), "nothing is begun any more")
}
