package kubernetesupgrade

import (
	"context"
	"testing"

	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/rollout"
	"refit.dev/refit/internal/snapshot/fixture"
)

// A node that somebody changed meanwhile, or whose claim is refused, holds up no other; and what is refused is said, whatever else there was.
func TestANodeThatCannotBeClaimedHoldsUpNoOther(t *testing.T) {
	g, s := NewWithT(t), newNetworkingStep(t)
	resource := schema.GroupResource{Resource: "nodeupgrades"}
	refusals := map[string]error{
		"changed": apierrors.NewConflict(resource, "changed", nil),
		"refused": apierrors.NewForbidden(resource, "refused", nil),
	}
	s.Client = interceptor.NewClient(s.Client.(client.WithWatch), interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			if err := refusals[o.GetName()]; err != nil {
				return err
			}
			return c.Create(ctx, o, opts...)
		}})
	u := fixture.Upgrade("v1.36.3")
	turn := func(names ...string) *turn {
		t := &turn{seen: s.seen, upgrade: u}
		for _, name := range names {
			t.decision.Actions = append(t.decision.Actions, rollout.Action{Kind: rollout.Stage, Name: name, Node: s.seen.Nodes[0].Name, Version: "v1.36.3"})
		}
		return t
	}
	written, err := s.carryAll(t.Context(), turn("changed", "refused", "a", "b"))
	g.Expect(apierrors.IsForbidden(err)).To(BeTrue(), "%v", err)
	g.Expect(written).To(ContainElements(HaveField("ObjectMeta.Name", "a"), HaveField("ObjectMeta.Name", "b")))
	var claims v1alpha1.NodeUpgradeList
	g.Expect(s.Client.List(t.Context(), &claims)).To(Succeed())
	g.Expect(claims.Items).To(HaveLen(2))

	_, err = s.carryAll(t.Context(), turn("changed", "c"))
	g.Expect(apierrors.IsConflict(err)).To(BeTrue(), "%v", err)
	result, err := stale(err)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(result.RequeueAfter).To(Equal(staleAfter))
	_, err = s.carryAll(t.Context(), turn("d"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(s.Client.Get(t.Context(), client.ObjectKey{Namespace: v1alpha1.Namespace, Name: "d"}, &v1alpha1.NodeUpgrade{ObjectMeta: metav1.ObjectMeta{}})).To(Succeed())
}
