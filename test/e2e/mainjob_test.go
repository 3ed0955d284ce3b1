package e2e

import (
	"testing"

	. "github.com/onsi/gomega"

	"refit.dev/refit/test/bed"
	"refit.dev/refit/test/invariant"
)

// The main job: three control planes and two workers, an application with a PodDisruptionBudget, and clients that retry
// nothing. Nobody notices.
func TestMainJob(t *testing.T) {
	s := shape{controlPlanes: 3, workers: 2}
	c := bringUp(t, "main", s)
	c.Expect(c.DeployApp(c.ctx)).To(Succeed())
	c.t.Log(c.refit("plan", bed.To))
	_, held := c.watch(s)
	clients, err := c.StartClients(c.ctx)
	c.Expect(err).NotTo(HaveOccurred())
	c.start()
	c.complete()
	results := clients.Stop()
	c.t.Logf("what clients noticed:\n%s", bed.Describe(results))
	held()
	c.ended(invariant.End{AllAt: bed.To})
	c.everywhereAt(bed.To)
	c.snapshotsAre(3)
	for _, r := range results {
		c.Expect(r.Sent).To(BeNumerically(">", 300), r.Name)
		c.Expect(r.Failed).To(BeZero(), r.String())
	}
}
