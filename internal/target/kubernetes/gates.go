package kubernetes

import (
	"context"
	"errors"

	"refit.dev/refit/api/managedupgrade/v1beta1"
	"refit.dev/refit/internal/gate"
	"refit.dev/refit/internal/maintenance"
	"refit.dev/refit/internal/observe"
	"refit.dev/refit/internal/rollout"
	"refit.dev/refit/internal/snapshot"
	"refit.dev/refit/internal/version"
)

// Gates are those of a KubernetesUpgrade: before a version is installed those before its start, and otherwise how the cluster is.
func (t *Target) Gates(ctx context.Context, job *v1beta1.UpgradeJob, stage maintenance.Stage) []gate.Verdict {
	seen, err := t.Observer.Cluster(ctx, observe.Fresh)
	if err != nil {
		return []gate.Verdict{{Gate: "cluster", Level: gate.Unknown, Message: "the cluster could not be observed, so this counts as closed: " + err.Error()}}
	}
	excluded := options(job).ExcludedGates
	if stage == maintenance.PreUpgrade && job.Version() != "" {
		var already *version.AlreadyError
		verdicts, err := rollout.Gates(seen, gate.BeforeStart, rollout.PreviewRequest{To: job.Version(), Plan: options(job).Plan, Excluded: excluded, Upgrade: goesOn(seen, job)})
		if err == nil {
			return verdicts
		}
		if !errors.As(err, &already) {
			return []gate.Verdict{{Gate: gate.Versions, Level: gate.Blocked, Message: err.Error()}}
		}
	}
	return gate.Present(seen, version.Lowest(seen), excluded)
}

// goesOn is the name of the unfinished upgrade that the job will go on with; empty where it will make one.
func goesOn(seen *snapshot.Cluster, job *v1beta1.UpgradeJob) string {
	if u := unfinished(seen.Upgrades); u != nil && adoptable(u) && u.Spec.ToVersion == job.Version() {
		return u.Name
	}
	return ""
}

// Operators are none: only OpenShift has them.
func (t *Target) Operators(_ context.Context, into *snapshot.Health) { into.NoOperators = true }
