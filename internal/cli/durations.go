package cli

import (
	"slices"
	"time"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/cli/view"
	"refit.dev/refit/internal/rollout"
)

// durationsOf estimates by what this cluster has shown: the median of its nodes' last upgrades. Where there were none, the
// planner's own guess applies.
func durationsOf(upgrades []*v1alpha1.NodeUpgrade) rollout.Durations {
	took := map[v1alpha1.NodeType][]time.Duration{}
	for _, nu := range upgrades {
		if d := view.Took(nu); d > 0 {
			took[nu.Spec.NodeType] = append(took[nu.Spec.NodeType], d)
		}
	}
	return rollout.Durations{
		ControlPlane: median(took[v1alpha1.NodeTypeControlPlane]),
		Worker:       median(took[v1alpha1.NodeTypeWorker]),
	}
}

// median of the durations, 0 of none.
func median(all []time.Duration) time.Duration {
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	return all[len(all)/2]
}
