package gate

import (
	"slices"

	"refit.dev/refit/internal/snapshot"
)

// aboutUpgrades are gates that have nothing to say as long as no version is asked for.
var aboutUpgrades = []string{Exclusive, Versions, Patches, RemovedAPIs}

// Present asks how the cluster is, as if it were to be upgraded to the version that it runs.
func Present(c *snapshot.Cluster, runs string, excluded []string) []Verdict {
	verdicts := Evaluate(BeforeStart, Input{Cluster: c, Target: runs, Hop: runs, Hops: []string{runs}, MaxUnavailable: 1, Excluded: excluded})
	return slices.DeleteFunc(verdicts, func(v Verdict) bool { return slices.Contains(aboutUpgrades, v.Gate) })
}
