package rollout

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/gate"
	"refit.dev/refit/internal/version"
)

// start checks what must hold before anything is done, and works out the hops. An outcome with a reason is final for now. An
// upgrade that is resumed half-way works its hops out anew, but its health is asked about node by node.
func (d *Decision) start(in Input) outcome {
	u := in.Upgrade
	fresh := len(u.Status.Hops) == 0
	if other := Overtaken(in.Cluster.Upgrades, u); other != "" {
		d.Status.Resumed = u.Spec.Resume
		return outcome{state: v1alpha1.StateUpgradeAborted, reason: ReasonOvertaken,
			waiting: fmt.Sprintf("upgrade %s was begun since this one was aborted: begin anew with `refit upgrade %s`", other, u.Spec.ToVersion)}
	}
	if other := gate.Other(in.Cluster, u.Name); other != "" {
		return outcome{state: u.Status.State, reason: ReasonAnotherUpgrade, waiting: fmt.Sprintf("upgrade %s is not finished: wait for it, or abort it with `refit abort %s`", other, other)}
	}
	if unknown := gate.UnknownNames(u.Spec.ExcludedGates); len(unknown) > 0 {
		return failed(ReasonUnknownGate, "excludedGates names %s, which is no gate; gates are %s", strings.Join(unknown, ", "), strings.Join(gate.Names(), ", "))
	}
	plan, err := PlanOf(in.Cluster, u.Spec.Plan)
	if err != nil {
		return failed(ReasonUnknownPlan, "%s", err)
	}
	hops, err := version.ForCluster(in.Cluster, u.Spec.ToVersion)
	var already *version.AlreadyError
	switch {
	case errors.As(err, &already):
		d.Status.FromVersion = cmp.Or(d.Status.FromVersion, u.Spec.ToVersion)
		d.Status.Hops, d.Status.Hop, d.Status.NetworkedVersion = []string{u.Spec.ToVersion}, u.Spec.ToVersion, u.Spec.ToVersion
		return outcome{}
	case err != nil:
		return refused(err, u.Status.State)
	}
	if u.Spec.Paused && fresh {
		return outcome{reason: ReasonPaused, waiting: "paused before the start"}
	}
	if fresh {
		most := mostUnavailable(in.Cluster, plan)
		d.Gates = gate.Evaluate(gate.BeforeStart, gate.Input{Cluster: in.Cluster, Upgrade: u.Name, Target: u.Spec.ToVersion,
			Hop: hops[0], Hops: hops, MaxUnavailable: most, Excluded: u.Spec.ExcludedGates})
		if why := gate.Summary(d.Gates); why != "" {
			return outcome{reason: ReasonGatesClosed, waiting: why}
		}
	}
	d.Status.Hops, d.Status.Hop = hops, hops[0]
	d.Status.FromVersion = cmp.Or(d.Status.FromVersion, version.StartsFrom(in.Cluster, u.Spec.ToVersion))
	d.Status.CompletedAt = nil
	if d.Status.StartedAt == nil {
		d.Status.StartedAt = &metav1.Time{Time: in.Cluster.Now}
	}
	return outcome{}
}

// Overtaken names an upgrade that was begun since this one was aborted; empty where there is none. What this one knows (networking that
// is done, groups that were approved and verified) need not hold any more.
func Overtaken(all []v1alpha1.KubernetesUpgrade, u *v1alpha1.KubernetesUpgrade) string {
	if u.Status.State != v1alpha1.StateUpgradeAborted || u.Status.StartedAt == nil || u.Status.CompletedAt == nil {
		return ""
	}
	for i := range all {
		if o := &all[i]; o.Name != u.Name && o.Status.StartedAt != nil &&
			!o.Status.StartedAt.Before(u.Status.CompletedAt) && u.Status.StartedAt.Before(o.Status.StartedAt) {
			return o.Name
		}
	}
	return ""
}

func failed(reason, format string, args ...any) outcome {
	return outcome{state: v1alpha1.StateUpgradeFailed, reason: reason, waiting: fmt.Sprintf(format, args...)}
}

// refused sorts out why there is no way to a version. What could not be seen may be seen in a moment, so that only waits.
func refused(err error, state v1alpha1.UpgradeState) outcome {
	var (
		unknown   *version.UnknownError
		downgrade *version.DowngradeError
		unseen    *version.UnobservedError
	)
	switch {
	case errors.As(err, &unseen):
		return outcome{state: state, reason: ReasonUnobserved, waiting: err.Error()}
	case errors.As(err, &unknown):
		return failed(ReasonUnknownVersion, "%s", err)
	case errors.As(err, &downgrade):
		return failed(ReasonDowngrade, "%s", err)
	}
	return failed(ReasonNoPath, "%s", err)
}
