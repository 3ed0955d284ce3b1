package rollout

import (
	"slices"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/snapshot"
	"refit.dev/refit/internal/version"
)

// journey is an upgrade of a cluster, hop by hop, and where it stands.
type journey struct {
	Input
	plan   v1alpha1.RolloutPlanSpec
	claims claims
	owner  owner
	hops   []string
	// at is the hop that is now being installed; len(hops) where all are.
	at int
	// idle says that nothing new may be begun: the state is worked out all the same.
	idle bool
	// masters are the control planes on their way to the hop (the last one, once all are installed), workers all workers, each
	// on its way to the hop at which it is due.
	masters, workers *field
	// groups are the workers that are due at the hop, by the groups of the plan.
	groups []*group
}

// newJourney works out, from what runs and from the claims, which hop is under way.
func newJourney(in Input, plan v1alpha1.RolloutPlanSpec, hops []string, networked string) *journey {
	j := &journey{Input: in, plan: plan, claims: claimsOf(in.Cluster), hops: hops,
		owner: owner{name: in.Upgrade.Name, resume: in.Upgrade.Spec.Resume}}
	for j.at = 0; j.at < len(hops); j.at++ {
		j.look()
		if !j.mastersDone() || !j.networked(networked) || !j.workersDone() {
			return j
		}
	}
	j.look()
	return j
}

func (j *journey) look() {
	hop := j.hop()
	j.masters = newField(j.Cluster, j.claims, j.owner, func(n *snapshot.Node) string {
		if n.ControlPlane {
			return hop
		}
		return ""
	})
	for i := range j.masters.nodes {
		if s := &j.masters.nodes[i]; j.ahead(s) {
			s.state = NodeDone
			j.masters.notes[s.node.Name].State, j.masters.notes[s.node.Name].Reason = NodeDone, ""
		}
	}
	j.workers = newField(j.Cluster, j.claims, j.owner, func(n *snapshot.Node) string {
		if n.ControlPlane {
			return ""
		}
		return j.due(n)
	})
	for i := range j.workers.nodes {
		s := &j.workers.nodes[i]
		if slices.Contains(j.Upgrade.Spec.Skip, s.node.Name) && s.state != NodeInFlight && s.state != NodeDone {
			s.state, s.again = NodeDone, false
			j.workers.notes[s.node.Name].State, j.workers.notes[s.node.Name].Reason = NodeSkipped, "left as it is: a person asked for it"
		}
	}
	j.groups = j.grouping()
}

// ahead says that a control plane has left the hop behind: it runs more, or it has been begun for a later one. It may be between
// the two just now.
func (j *journey) ahead(s *standing) bool {
	if j.last() || s.claim != nil && s.claim.Status.Phase != v1alpha1.NodeCompleted {
		return false
	}
	for _, nu := range j.claims[s.node.Name] {
		if nu.Labels[v1alpha1.LabelUpgrade] == j.owner.name && (nu.Status.NodeUID == "" || nu.Status.NodeUID == s.node.UID) &&
			slices.Contains(j.hops[j.at+1:], nu.Spec.KubernetesVersion) {
			return true
		}
	}
	return s.claim == nil && s.busy == nil && version.Compare(version.OfNode(s.node), j.hop()) > 0
}

// hop is the version now being installed, the last one once all are.
func (j *journey) hop() string { return j.hops[min(j.at, len(j.hops)-1)] }

// last says that no other hop follows.
func (j *journey) last() bool { return j.at >= len(j.hops)-1 }

// due is the version that a worker is next brought to: the last one of all, unless its kubelet would become too old for an API
// server on the way. So it is drained once, if Kubernetes lets it.
func (j *journey) due(n *snapshot.Node) string {
	runs := j.kubelet(n)
	for i := min(j.at, len(j.hops)-1); i < len(j.hops)-1; i++ {
		if version.MinorsApart(runs, j.hops[i+1]) > version.KubeletSkew {
			return j.hops[i]
		}
	}
	return j.hops[len(j.hops)-1]
}

// kubelet is the version that the node's kubelet runs, by whichever is newer of observation and completed claims: the
// observation may be older than the claims.
func (j *journey) kubelet(n *snapshot.Node) string {
	runs := n.KubeletVersion
	for _, nu := range j.claims[n.Name] {
		if nu.Status.Phase == v1alpha1.NodeCompleted && nu.Labels[v1alpha1.LabelUpgrade] == j.owner.name &&
			nu.Status.NodeUID == n.UID && len(j.hops) > 1 && version.Compare(nu.Spec.KubernetesVersion, runs) > 0 {
			runs = nu.Spec.KubernetesVersion
		}
	}
	return runs
}

func (j *journey) mastersDone() bool { return len(j.masters.in(NodeDone)) == len(j.masters.nodes) }

// pending are the workers that are due at the hop under way, and not done.
func (j *journey) pending() []*standing {
	var out []*standing
	for i := range j.workers.nodes {
		if s := &j.workers.nodes[i]; s.to == j.hop() && s.state != NodeDone {
			out = append(out, s)
		}
	}
	return out
}

func (j *journey) workersDone() bool { return len(j.pending()) == 0 && j.groupsDone() }

// networked says that the networking step of the hop is done, given the last version for which it is.
func (j *journey) networked(done string) bool {
	if done == "" {
		return false
	}
	for i, h := range j.hops {
		if h == done {
			return i >= min(j.at, len(j.hops)-1)
		}
	}
	return false
}

// flying are the nodes that a claim is changing, in order.
func (j *journey) flying() []string {
	return append(j.masters.in(NodeInFlight), j.workers.in(NodeInFlight)...)
}
