package kubernetesupgrade

import (
	"context"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/observe"
	"refit.dev/refit/internal/snapshot"
	"refit.dev/refit/internal/snapshot/fixture"
)

// seen is a cluster as it is observed.
type seen snapshot.Cluster

func (s *seen) Cluster(context.Context, observe.Freshness) (*snapshot.Cluster, error) {
	return (*snapshot.Cluster)(s), nil
}

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
