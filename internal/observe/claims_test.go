package observe

import (
	"context"
	"fmt"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/testcluster"
)

func claimAt(name, version string) *v1alpha1.NodeUpgrade {
	return &v1alpha1.NodeUpgrade{ObjectMeta: metav1.ObjectMeta{Name: name, ResourceVersion: version}}
}

func TestTheNewerOfCacheAndAPIServerCounts(t *testing.T) {
	for what, tt := range map[string]struct {
		cached, live, want []*v1alpha1.NodeUpgrade
	}{
		"nothing":                {},
		"only the cache has it":  {cached: []*v1alpha1.NodeUpgrade{claimAt("a", "9")}, want: []*v1alpha1.NodeUpgrade{claimAt("a", "9")}},
		"the cache is behind":    {cached: []*v1alpha1.NodeUpgrade{claimAt("a", "9")}, live: []*v1alpha1.NodeUpgrade{claimAt("a", "10")}, want: []*v1alpha1.NodeUpgrade{claimAt("a", "10")}},
		"the cache is ahead":     {cached: []*v1alpha1.NodeUpgrade{claimAt("a", "100")}, live: []*v1alpha1.NodeUpgrade{claimAt("a", "99")}, want: []*v1alpha1.NodeUpgrade{claimAt("a", "100")}},
		"the cache has it not":   {cached: []*v1alpha1.NodeUpgrade{claimAt("a", "9")}, live: []*v1alpha1.NodeUpgrade{claimAt("b", "10")}, want: []*v1alpha1.NodeUpgrade{claimAt("a", "9"), claimAt("b", "10")}},
		"who knows which is new": {cached: []*v1alpha1.NodeUpgrade{claimAt("a", "x")}, live: []*v1alpha1.NodeUpgrade{claimAt("a", "10")}, want: []*v1alpha1.NodeUpgrade{claimAt("a", "10")}},
	} {
		t.Run(what, func(t *testing.T) {
			var k known
			k.answered(time.Unix(100, 0), time.Unix(101, 0), tt.live)
			all, _ := overlay(tt.cached, k.all(time.Unix(102, 0)))
			NewWithT(t).Expect(all).To(Equal(tt.want))
		})
	}
}

// TestACacheThatIsBehindHidesNoNodeThatIsOut has a cache that saw every claim held, and an API server where some were begun since.
func TestACacheThatIsBehindHidesNoNodeThatIsOut(t *testing.T) {
	g, c := NewWithT(t), testcluster.Start(t).Client
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: v1alpha1.Namespace}}
	g.Expect(client.IgnoreAlreadyExists(c.Create(t.Context(), ns))).To(Succeed())
	t.Cleanup(func() {
		_ = c.DeleteAllOf(context.Background(), &v1alpha1.NodeUpgrade{}, client.InNamespace(v1alpha1.Namespace))
	})
	const pageSize = 500
	all := pageSize + 20
	for i := range all {
		nu := &v1alpha1.NodeUpgrade{ObjectMeta: metav1.ObjectMeta{Namespace: v1alpha1.Namespace, Name: fmt.Sprintf("w-%d", i)}, Spec: v1alpha1.NodeUpgradeSpec{
			Machine: corev1.ObjectReference{Name: fmt.Sprintf("w-%d", i)}, KubernetesVersion: "v1.36.3", NodeType: v1alpha1.NodeTypeWorker, Hold: true}}
		g.Expect(c.Create(t.Context(), nu)).To(Succeed())
	}
	var held v1alpha1.NodeUpgradeList
	g.Expect(c.List(t.Context(), &held, client.InNamespace(v1alpha1.Namespace))).To(Succeed())
	set := func(i int, change func(*v1alpha1.NodeUpgrade)) {
		nu := held.Items[i].DeepCopy()
		nu.Spec.Hold = false
		g.Expect(c.Update(t.Context(), nu)).To(Succeed())
		change(nu)
		g.Expect(c.Status().Update(t.Context(), nu)).To(Succeed())
	}
	set(0, func(nu *v1alpha1.NodeUpgrade) { nu.Status.Phase = v1alpha1.NodeUpgrading })
	set(1, func(nu *v1alpha1.NodeUpgrade) { nu.Status.Phase = v1alpha1.NodeFailed })
	set(2, func(nu *v1alpha1.NodeUpgrade) { nu.Status.Phase, nu.Status.Completed = v1alpha1.NodeCompleted, true })

	cache := interceptor.NewClient(c, interceptor.Funcs{List: func(ctx context.Context, c client.WithWatch, l client.ObjectList, opts ...client.ListOption) error {
		if list, ok := l.(*v1alpha1.NodeUpgradeList); ok {
			held.DeepCopyInto(list)
			return nil
		}
		return c.List(ctx, l, opts...)
	}})
	pages, most := 0, 0
	counting := func(selectable bool) client.WithWatch {
		return interceptor.NewClient(c, interceptor.Funcs{List: func(ctx context.Context, c client.WithWatch, l client.ObjectList, opts ...client.ListOption) error {
			var o client.ListOptions
			o.ApplyOptions(opts)
			if !selectable && o.FieldSelector != nil {
				return apierrors.NewBadRequest("field label not supported: spec.hold")
			}
			err := c.List(ctx, l, opts...)
			if list, ok := l.(*v1alpha1.NodeUpgradeList); ok {
				pages, most = pages+1, max(most, len(list.Items))
			}
			return err
		}})
	}
	for _, selectable := range []bool{true, false} {
		pages, most = 0, 0
		o := &Observer{Reader: cache, Live: counting(selectable), Clock: clock.RealClock{}}
		claims, err := o.nodeUpgrades(t.Context(), Fresh)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(claims).To(HaveLen(all))
		begun := map[string]v1alpha1.NodeUpgradePhase{}
		for i := range claims {
			if !claims[i].Spec.Hold && !claims[i].Status.Completed {
				begun[claims[i].Name] = claims[i].Status.Phase
			}
		}
		g.Expect(begun).To(Equal(map[string]v1alpha1.NodeUpgradePhase{held.Items[0].Name: v1alpha1.NodeUpgrading, held.Items[1].Name: v1alpha1.NodeFailed}))
		if selectable {
			g.Expect(most).To(Equal(2), "only what may be out is read")
		} else {
			g.Expect(pages).To(Equal(2), "page by page")
			g.Expect(most).To(Equal(pageSize))
		}
	}
}
