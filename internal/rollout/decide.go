package rollout

import "refit.dev/refit/api/v1alpha1"

// The reasons of the Ready condition of a KubernetesUpgrade that needs a person, or is over.
const (
	ReasonComplete           = "Complete"
	ReasonUpgrading          = "Upgrading"
	ReasonPaused             = "Paused"
	ReasonWaiting            = "Waiting"
	ReasonGatesClosed        = "GatesClosed"
	ReasonAnotherUpgrade     = "AnotherUpgrade"
	ReasonUnknownVersion     = "UnknownVersion"
	ReasonNoPath             = "NoPath"
	ReasonDowngrade          = "DowngradeNotAllowed"
	ReasonUnobserved         = "Unobserved"
	ReasonUnknownPlan        = "UnknownPlan"
	ReasonUnknownGate        = "UnknownGate"
	ReasonNodeFailed         = "NodeFailed"
	ReasonNodesSkipped       = "NodesSkipped"
	ReasonVerificationFailed = "VerificationFailed"
	ReasonGroupLost          = "GroupLost"
	ReasonNetworkingFailed   = "NetworkingFailed"
	ReasonAborting           = "Aborting"
	ReasonAborted            = "Aborted"
	ReasonOvertaken          = "Overtaken"
)

// outcome is where the state machine came to.
type outcome struct {
	state   v1alpha1.UpgradeState
	reason  string
	waiting string
	// lost is the group whose loss it tells of, nil for none.
	lost *group
}

// Decide works out the state of an upgrade from what runs and from what is asked for, and what to do next.
func Decide(in Input) Decision {
	u := in.Upgrade
	d := Decision{Status: *u.Status.DeepCopy()}
	d.Status.ObservedGeneration = u.Generation
	if u.Finished() {
		d.recount(in, d.journey(in))
		return d
	}
	resumed := u.Spec.Resume > u.Status.Resumed
	switch {
	case u.Spec.Abort:
		d.Status.Resumed = max(u.Spec.Resume, u.Status.Resumed)
		j := d.journey(in)
		d.settle(in, j, d.abort(in, j))
		return d
	case u.Status.State == v1alpha1.StateUpgradeFailed && !resumed:
		j := d.journey(in)
		d.hold(j, "the upgrade has failed")
		d.settle(in, j, d.stopped(u, j))
		return d
	case len(u.Status.Hops) == 0 || resumed:
		if o := d.start(in); o.reason != "" {
			d.settle(in, nil, o)
			return d
		}
	}
	d.Status.Resumed = max(u.Spec.Resume, u.Status.Resumed)
	j := d.journey(in)
	for j.nothingToNetwork(d.Status.NetworkedVersion) {
		d.Status.NetworkedVersion = j.hop()
		j = d.journey(in)
	}
	d.settle(in, j, d.advance(j))
	return d
}

// journey is the upgrade's, nil while it has none.
func (d *Decision) journey(in Input) *journey {
	if len(d.Status.Hops) == 0 {
		return nil
	}
	plan, _ := PlanOf(in.Cluster, in.Upgrade.Spec.Plan)
	return newJourney(in, plan, d.Status.Hops, d.Status.NetworkedVersion)
}
