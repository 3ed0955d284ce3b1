package e2e

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/test/bed"
	"refit.dev/refit/test/invariant"
)

// awayFor is how long the API server's manifest is away; it serves again some ten seconds later.
const awayFor = 30 * time.Second

// Faults 6 and 25: the only API server is away again and again while a worker is upgraded, just before a step that needs it and within steps, which
// is no worker's failure; and the other worker was cordoned by a person, and stays so.
func testAPIServerAway(t *testing.T) {
	s := shape{controlPlanes: 1, workers: 2, maxUnavailable: 2, cordoned: []string{"worker-2"}}
	c := bringUp(t, "away", s)
	c.plan("two", 2)
	c.Expect(c.Client.Patch(c.ctx, c.node("worker-2"), client.RawPatch(types.MergePatchType, []byte(`{"spec":{"unschedulable":true}}`)))).To(Succeed())
	_, held := c.watch(s)
	c.start("--plan", "two")
	for _, step := range []v1alpha1.StepName{v1alpha1.StepContainerd, v1alpha1.StepKubeadm, v1alpha1.StepKubelet} {
		c.begun(c.host("worker-1"), step)
		c.on("cp-1", "mv /etc/kubernetes/manifests/kube-apiserver.yaml /root/kube-apiserver.yaml")
		pause(c.ctx, awayFor)
		c.on("cp-1", "mv /root/kube-apiserver.yaml /etc/kubernetes/manifests/kube-apiserver.yaml")
	}
	c.complete()
	held()
	c.ended(invariant.End{AllAt: bed.To, Cordoned: map[string]bool{"worker-2": true}})
	c.everywhereAt(bed.To)
	for _, w := range c.Lab.Workers() {
		u, err := c.claim(c.ctx, w.Name)
		c.Expect(err).NotTo(HaveOccurred())
		c.Expect(u.Status.Attempts).To(BeZero(), "an API server that is away is not the failure of %s: %v", w.Name, u.Status.Conditions)
	}
}

// Fault 22: a worker is lost after its drain. It counts against the limit of two, and the others go on one by one; when it comes
// back, it is finished, too.
func testWorkerLost(t *testing.T) {
	s := shape{controlPlanes: 1, workers: 3, maxUnavailable: 2}
	c := bringUp(t, "lost", s)
	c.plan("two", 2)
	_, held := c.watch(s)
	c.start("--plan", "two")
	lost := c.host("worker-1")
	c.untilClaim(lost.Name, "drained", func(u *v1alpha1.NodeUpgrade) bool {
		return stepOf(u, v1alpha1.StepDrain).State == v1alpha1.StepSucceeded
	})
	c.Expect(lost.PowerCut(c.ctx)).To(Succeed())
	for _, name := range []string{"worker-2", "worker-3"} {
		c.untilPhase(name, v1alpha1.NodeCompleted)
	}
	u, err := c.upgrade(c.ctx)
	c.Expect(err).NotTo(HaveOccurred())
	c.Expect(u.Status.Nodes.Unavailable).To(BeEquivalentTo(1), "the lost worker counts")
	c.Expect(u.Status.Waiting).To(ContainSubstring(lost.Name))
	c.Expect(lost.PowerOn(c.ctx)).To(Succeed())
	c.complete()
	held()
	c.ended(invariant.End{AllAt: bed.To})
	c.everywhereAt(bed.To)
}
