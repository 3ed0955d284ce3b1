package rollout

import "refit.dev/refit/api/v1alpha1"

// network runs the networking step of the hop, or waits until it is asked for.
func (d *Decision) network(j *journey, idle v1alpha1.UpgradeState) outcome {
	j.masters.sayAll("networking comes first")
	j.workers.sayAll("control planes come first")
	switch {
	case !j.networking() && !j.asked(v1alpha1.RequestNetworking, ""):
		return outcome{state: idle, reason: ReasonWaiting, waiting: "Manual: ask for the networking step"}
	case !j.networking() && j.idle:
		return outcome{state: idle}
	}
	d.do(j, Action{Kind: RunNetworking, Version: j.hop(), Resume: j.owner.resume, Why: "the version names networking manifests"})
	return outcome{state: v1alpha1.StateUpgradingNetworking, waiting: "the networking step of " + j.hop()}
}

// networking says that the networking step of the hop has been begun, and not been left behind by a resume.
func (j *journey) networking() bool {
	return j.Networking.Version == j.hop() && j.Networking.Resume >= j.Upgrade.Spec.Resume
}

// nothingToNetwork says that it is the networking step's turn, and that it is done, or has nothing to do.
func (j *journey) nothingToNetwork(networked string) bool {
	if j.at == len(j.hops) || j.networked(networked) {
		return false
	}
	if j.plan.Networking != v1alpha1.NetworkingFirst && len(j.masters.in(NodeDone)) == 0 {
		return false
	}
	if j.networking() && j.Networking.Done {
		return true
	}
	kv := j.Cluster.Version(j.hop())
	return kv != nil && kv.Spec.Networking == nil && !j.Upgrade.Spec.Paused && j.asked(v1alpha1.RequestNetworking, "")
}
