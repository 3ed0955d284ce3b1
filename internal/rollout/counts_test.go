package rollout_test

import (
	"testing"

	. "github.com/onsi/gomega"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/rollout"
)

func TestWhatIsSaidOfNodes(t *testing.T) {
	t.Run("a worker that failed half-way counts as out, whatever step a later attempt failed at", func(t *testing.T) {
		g, w := NewWithT(t), underWay(t, 2)
		w.fail(w.claim("w-1-v1.36.3"), v1alpha1.StepPreflight)
		w.uncordon(w.claim("w-1-v1.36.3"), w.Node("w-1"))
		g.Expect(decide(w.observe(), w.upgrade).Status.Nodes.Unavailable).To(Equal(int32(1)))
	})
	t.Run("a worker in service again is available while its upgrade tidies up", func(t *testing.T) {
		g, w := NewWithT(t), underWay(t, 2)
		nu := w.claim("w-1-v1.36.3")
		w.Node("w-1").KubeletVersion = "v1.36.3"
		w.uncordon(nu, w.Node("w-1"))
		begin(&nu.Status, v1alpha1.StepUncordon)
		g.Expect(decide(w.observe(), w.upgrade).Status.Nodes.Unavailable).To(Equal(int32(1)), "it may be taken out at any moment")
		nu.Status.Steps[len(nu.Status.Steps)-1].State = v1alpha1.StepSucceeded
		begin(&nu.Status, v1alpha1.StepCleanup)
		d := decide(w.observe(), w.upgrade)
		g.Expect(d.Status.Nodes.Unavailable).To(BeZero())
		g.Expect(d.Status.Nodes.InProgress).To(Equal(int32(1)))
		g.Expect(kinds(d.Actions)).NotTo(ContainElement(rollout.Start), "the next worker waits for its end all the same")
	})
	t.Run("a complete upgrade counts no node as out that is seen late", func(t *testing.T) {
		g, w := NewWithT(t), underWay(t, 1)
		late := w.observe()
		g.Expect(w.until(30, func() bool { return w.claim("w-1-v1.36.3").Status.Completed })).To(BeTrue())
		late = w.freshClaims(late) // the cache of nodes is behind that of claims
		late.Node("w-1").KubeletVersion, late.Node("w-1").Cordoned, late.Node("w-1").CordonedBy = "v1.36.3", true, string(w.claim("w-1-v1.36.3").UID)
		w.reconcileUpgrade(late)
		g.Expect(w.complete()).To(BeFalse())
		g.Expect(w.upgrade.Status.Waiting).To(ContainSubstring("w-1 was upgraded, but is still seen cordoned"))
		g.Expect(w.until(2, w.complete)).To(BeTrue())
		g.Expect(w.upgrade.Status.Nodes).To(Equal(v1alpha1.NodeCounts{Total: 2, Upgraded: 2}))
	})
	t.Run("a failure names its node and its step once", func(t *testing.T) {
		g, w := NewWithT(t), underWay(t, 1)
		nu := w.claim("w-1-v1.36.3")
		for said, want := range map[string]string{
			"step kubelet: it does not start":                       "w-1 failed at step kubelet: it does not start. Repair it",
			"it does not start":                                     "w-1 failed at step kubelet: it does not start. Repair it",
			"the node has said nothing since noon, in step kubelet": "w-1 failed: the node has said nothing since noon, in step kubelet. Repair it",
		} {
			w.fail(nu, v1alpha1.StepKubelet)
			nu.Status.Conditions[0].Message = said
			g.Expect(decide(w.observe(), w.upgrade).Status.Waiting).To(HavePrefix(want))
		}
	})
}
