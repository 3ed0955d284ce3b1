package e2e

import (
	"context"
	"encoding/json"
	"path"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/test/bed"
	"refit.dev/refit/test/invariant"
)

// A person deletes the NodeUpgrade of a worker in the middle of one step after another: it goes when the step is done to its end, and
// the upgrade, which looks at what the node runs, makes another where one is needed, and ends well.
func testClaimDeleted(t *testing.T) {
	s := shape{controlPlanes: 1, workers: 1}
	c := bringUp(t, "deleted", s)
	_, held := c.watch(s)
	c.start()
	for _, step := range []v1alpha1.StepName{v1alpha1.StepContainerd, v1alpha1.StepKubelet} {
		c.begun(c.host("worker-1"), step)
		claim, err := c.claim(c.ctx, "worker-1")
		c.Expect(err).NotTo(HaveOccurred())
		c.Expect(client.IgnoreNotFound(c.Client.Delete(c.ctx, claim))).To(Succeed())
		c.until("the NodeUpgrade to be gone", stepDeadline, func(ctx context.Context) (bool, string, error) {
			u, err := c.claim(ctx, "worker-1")
			return u == nil || u.UID != claim.UID, "", err
		})
		c.wholeSteps("worker-1")
	}
	c.complete()
	held()
	c.ended(invariant.End{AllAt: bed.To})
	c.everywhereAt(bed.To)
	c.wholeSteps("worker-1")
}

// wholeSteps checks that each step that was begun for a NodeUpgrade that is no more has ended.
func (c *cluster) wholeSteps(node string) {
	c.t.Helper()
	claim, err := c.claim(c.ctx, node)
	c.Expect(err).NotTo(HaveOccurred())
	for _, file := range strings.Fields(c.on(node, "ls /var/lib/refit/journal/*.jsonl")) {
		if claim != nil && claim.Status.Phase != v1alpha1.NodeCompleted && strings.HasPrefix(path.Base(file), string(claim.UID)) {
			continue // still at work
		}
		begun := map[string]bool{}
		for line := range strings.Lines(c.on(node, "cat "+file)) {
			var record struct{ Step, Event string }
			c.Expect(json.Unmarshal([]byte(line), &record)).To(Succeed(), line)
			begun[record.Step] = record.Event == "started"
		}
		for step, unfinished := range begun {
			c.Expect(unfinished).To(BeFalse(), "step %s in %s was cut in half", step, file)
		}
	}
}
