package e2e

import (
	"context"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/test/bed"
	"refit.dev/refit/test/invariant"
)

// drainTimeout is what the tests' plan gives a drain.
const drainTimeout = 20 * time.Second

// plan makes a RolloutPlan.
func (c *cluster) plan(name string, maxUnavailable int) {
	c.t.Helper()
	most := intstr.FromInt(maxUnavailable)
	c.Expect(c.Client.Create(c.ctx, &v1alpha1.RolloutPlan{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1alpha1.RolloutPlanSpec{
		MaxUnavailable: &most, Drain: &v1alpha1.DrainPolicy{Timeout: &metav1.Duration{Duration: drainTimeout}},
	}})).To(Succeed())
}

// Fault 17: a PodDisruptionBudget that lets no pod go. The drain is bounded, the node is uncordoned, the budget is named; and
// when it lets pods go, the upgrade can be resumed.
func testBudget(t *testing.T) {
	s := shape{controlPlanes: 1, workers: 2}
	c := bringUp(t, "budget", s)
	c.Expect(c.DeployApp(c.ctx)).To(Succeed())
	c.plan("short", 1)
	c.minAvailable(2)
	_, held := c.watch(s)
	c.start("--plan", "short")
	waiting := c.untilState(v1alpha1.StateUpgradeFailed)
	c.Expect(waiting).To(And(ContainSubstring("drain"), ContainSubstring("worker-")))
	c.workersAt(bed.From)
	u, err := c.claim(c.ctx, "worker-1")
	c.Expect(err).NotTo(HaveOccurred())
	c.Expect(u.Status.Phase).To(Equal(v1alpha1.NodeFailed))
	c.Expect(stepOf(u, v1alpha1.StepDrain).Message).To(ContainSubstring("disruption budget webapp"))
	c.ended(invariant.End{})

	c.minAvailable(1)
	c.t.Log(c.refit("resume"))
	c.complete()
	held()
	c.ended(invariant.End{AllAt: bed.To})
	c.everywhereAt(bed.To)
}

// minAvailable sets the application's budget, and waits until it is taken up.
func (c *cluster) minAvailable(n int) {
	c.t.Helper()
	key := client.ObjectKey{Namespace: "webapp", Name: "webapp"}
	var budget policyv1.PodDisruptionBudget
	c.Expect(c.Client.Get(c.ctx, key, &budget)).To(Succeed())
	before := budget.DeepCopy()
	value := intstr.FromInt(n)
	budget.Spec.MinAvailable = &value
	c.Expect(c.Client.Patch(c.ctx, &budget, client.MergeFrom(before))).To(Succeed())
	c.until("the budget to be taken up", soon, func(ctx context.Context) (bool, string, error) {
		err := c.Client.Get(ctx, key, &budget)
		return budget.Status.ObservedGeneration == budget.Generation, "", err
	})
}

// workersAt checks the version of each worker.
func (c *cluster) workersAt(version string) {
	c.t.Helper()
	for _, w := range c.Lab.Workers() {
		c.Expect(c.node(w.Name).Status.NodeInfo.KubeletVersion).To(Equal(version), w.Name)
	}
}

// stepOf is a step in the status, empty where it has not begun.
func stepOf(u *v1alpha1.NodeUpgrade, name v1alpha1.StepName) v1alpha1.StepStatus {
	for _, s := range u.Status.Steps {
		if s.Name == name {
			return s
		}
	}
	return v1alpha1.StepStatus{}
}
