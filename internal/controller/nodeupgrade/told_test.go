package nodeupgrade

import (
	"testing"

	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/testcluster"
)

type hearing struct {
	wrote []client.Object
	gone  []*v1alpha1.NodeUpgrade
}

func (h *hearing) Wrote(objects ...client.Object) { h.wrote = append(h.wrote, objects...) }
func (h *hearing) Gone(nu *v1alpha1.NodeUpgrade)  { h.gone = append(h.gone, nu) }

// Whoever decides what to begin must know of a node that failed, or that goes on after it did, before a cache does. One that is done holds up nobody.
func TestTheObserverIsToldWhatAClaimBecomesUnlessItIsDone(t *testing.T) {
	for _, tt := range []struct {
		phase v1alpha1.NodeUpgradePhase
		told  bool
	}{{v1alpha1.NodeFailed, true}, {v1alpha1.NodeUpgrading, true}, {v1alpha1.NodeCompleted, false}} {
		t.Run(string(tt.phase), func(t *testing.T) {
			g, nu := NewWithT(t), &v1alpha1.NodeUpgrade{ObjectMeta: metav1.ObjectMeta{Namespace: v1alpha1.Namespace, Name: "w-1"}}
			c := fake.NewClientBuilder().WithScheme(testcluster.Scheme()).WithObjects(nu).WithStatusSubresource(nu).Build()
			g.Expect(c.Get(t.Context(), client.ObjectKeyFromObject(nu), nu)).To(Succeed())
			var heard hearing
			r := &Reconciler{Client: c, Observer: &heard}
			d := Decision{Status: v1alpha1.NodeUpgradeStatus{Phase: tt.phase, Completed: tt.phase == v1alpha1.NodeCompleted}}
			g.Expect(r.writeStatus(t.Context(), nu, d)).To(Succeed())
			if !tt.told {
				g.Expect(heard.wrote).To(BeEmpty())
				return
			}
			g.Expect(heard.wrote).To(ConsistOf(And(HaveField("Status.Phase", tt.phase), HaveField("ResourceVersion", nu.ResourceVersion))))
			g.Expect(heard.wrote[0]).NotTo(BeIdenticalTo(client.Object(nu)), "others look at it from now on")
		})
	}
}

// What the observer still knew of a claim that is deleted would keep its node from being claimed anew.
func TestTheObserverIsToldThatAClaimIsGone(t *testing.T) {
	g, nu := NewWithT(t), &v1alpha1.NodeUpgrade{ObjectMeta: metav1.ObjectMeta{Namespace: v1alpha1.Namespace, Name: "w-1", Finalizers: []string{v1alpha1.Finalizer}}}
	c := fake.NewClientBuilder().WithScheme(testcluster.Scheme()).WithObjects(nu).Build()
	g.Expect(c.Delete(t.Context(), nu)).To(Succeed())
	g.Expect(c.Get(t.Context(), client.ObjectKeyFromObject(nu), nu)).To(Succeed())
	var heard hearing
	r := &Reconciler{Client: c, Observer: &heard}
	g.Expect(r.act(t.Context(), &Observation{Upgrade: nu}, RemoveFinalizer{})).To(Succeed())
	g.Expect(apierrors.IsNotFound(c.Get(t.Context(), client.ObjectKeyFromObject(nu), nu.DeepCopy()))).To(BeTrue())
	g.Expect(heard.gone).To(ConsistOf(nu))
}
