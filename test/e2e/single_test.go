package e2e

import (
	"testing"

	"refit.dev/refit/test/bed"
	"refit.dev/refit/test/invariant"
)

// A cluster of one control plane and nothing else: there is nowhere to drain to, the API server is away for a moment, and the
// manager lives on the very node that is upgraded. It comes back by itself and goes on.
func TestSingleNode(t *testing.T) {
	s := shape{controlPlanes: 1}
	c := bringUp(t, "single", s)
	_, held := c.watch(s)
	c.start()
	c.complete()
	held()
	c.ended(invariant.End{AllAt: bed.To})
	c.everywhereAt(bed.To)
	c.snapshotsAre(1)
}
