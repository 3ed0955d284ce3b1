package rollout

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/gate"
	"refit.dev/refit/internal/version"
)

// advance finds the state of an upgrade that is under way, and what to do in it.
func (d *Decision) advance(j *journey) outcome {
	d.Status.Hop = j.hop()
	if o := d.mishap(j); o.reason != "" {
		d.hold(j, o.waiting)
		return o
	}
	if j.at == len(j.hops) {
		return d.end(j)
	}
	if j.Upgrade.Spec.Paused {
		j.idle = true
		d.hold(j, "the upgrade is paused")
		o := d.phase(j)
		o.reason, o.waiting = ReasonPaused, "paused: nothing new is started"
		if f := j.flying(); len(f) > 0 {
			o.waiting += ", and " + are(f) + " in flight"
		}
		return o
	}
	if why := j.lost(); why != "" {
		j.idle = true
		d.hold(j, why)
		o := d.phase(j)
		o.reason, o.waiting = ReasonWaiting, why
		return o
	}
	d.Actions = append(d.Actions, j.workers.drop()...)
	room, waits := j.stagingRoom()
	d.Actions = append(d.Actions, j.workers.stage(room, waits)...)
	o := d.phase(j)
	if lost := j.misdirected(); lost != "" {
		o.waiting = strings.TrimPrefix(o.waiting+"; "+lost, "; ")
	}
	return o
}

// stagingRoom is how many more workers may be staged, and what the others wait for. Control planes are staged one at a time, and everybody waits
// for them: workers leave them a place until all are.
func (j *journey) stagingRoom() (room int, waits string) {
	n := len(fetching(j.Cluster, v1alpha1.NodeTypeControlPlane))
	for i := range j.masters.nodes {
		if s := &j.masters.nodes[i]; s.state == NodeWaiting && !s.again && s.node.Ready {
			n = max(n, 1)
		}
	}
	most := int(j.plan.StagingParallelism)
	return most - n - len(fetching(j.Cluster, v1alpha1.NodeTypeWorker)), fmt.Sprintf("others come first, and stagingParallelism is %d", most)
}

// phase is the part of the state machine between start and end.
func (d *Decision) phase(j *journey) outcome {
	networkingFirst := j.plan.Networking == v1alpha1.NetworkingFirst
	networked := j.networked(d.Status.NetworkedVersion)
	done := len(j.masters.in(NodeDone))
	switch {
	case networkingFirst && !networked && done == 0 && len(j.masters.in(NodeInFlight)) == 0:
		return d.network(j, j.rest())
	case done == 0:
		return d.first(j)
	case !networked:
		return d.network(j, v1alpha1.StateUpgradedFirstMaster)
	case !j.mastersDone():
		return d.second(j)
	}
	return d.kubelets(j)
}

// do takes actions, unless nothing new may be begun.
func (d *Decision) do(j *journey, actions ...Action) {
	if !j.idle {
		d.Actions = append(d.Actions, actions...)
	}
}

// end is reached when every node has been brought to the last hop, by what the claims say; the nodes must say so too.
func (d *Decision) end(j *journey) outcome {
	state := cmp.Or(d.Status.State, v1alpha1.StateUpgradeStarted)
	if len(j.workers.nodes) > 0 {
		state = v1alpha1.StateUpgradingKubelets
	}
	for i := range j.Cluster.Nodes {
		if n := &j.Cluster.Nodes[i]; !version.Runs(n, j.hop()) && !slices.Contains(j.Upgrade.Spec.Skip, n.Name) {
			return outcome{state: state, waiting: fmt.Sprintf("%s was upgraded, but is still seen at %s", n.Name, cmp.Or(version.OfNode(n), "an unknown version"))}
		}
	}
	// What is counted now is what the finished upgrade says for ever: it does not wake when a node changes.
	if node := j.stillCordoned(); node != "" {
		return outcome{state: state, waiting: node + " was upgraded, but is still seen cordoned by its upgrade"}
	}
	d.Gates = gate.Evaluate(gate.AfterEnd, j.gateInput(0))
	if why := gate.Summary(d.Gates); why != "" {
		return outcome{state: state, reason: ReasonGatesClosed, waiting: why}
	}
	return outcome{state: v1alpha1.StateUpgradeComplete, reason: ReasonComplete}
}

// stillCordoned names a node whose claim is done, but whose cordon by that claim is still seen; empty where there is none.
func (j *journey) stillCordoned() string {
	for _, f := range []*field{j.masters, j.workers} {
		for i := range f.nodes {
			s := &f.nodes[i]
			if s.claim != nil && s.node.CordonedBy != "" && s.node.CordonedBy == string(s.claim.UID) {
				return s.node.Name
			}
		}
	}
	return ""
}

func (j *journey) gateInput(most int) gate.Input {
	return gate.Input{Cluster: j.Cluster, Upgrade: j.Upgrade.Name, Target: j.hops[len(j.hops)-1], Hop: j.hop(), Hops: j.hops,
		MaxUnavailable: most, Excluded: j.Upgrade.Spec.ExcludedGates}
}
