package rollout

import (
	"cmp"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/snapshot"
)

// fetching counts the claims on nodes of a type that fetch what they need.
func fetching(c *snapshot.Cluster, of v1alpha1.NodeType) int {
	n := 0
	for _, nu := range c.NodeUpgrades {
		if nu.Spec.NodeType == of && staging(nu) {
			n++
		}
	}
	return n
}

// stage creates held claims for nodes that have none, so that at most that many fetch at once, those counted that do already.
func (f *field) stage(fetching, parallelism int) []Action {
	var actions []Action
	for i := range f.nodes {
		s := &f.nodes[i]
		if s.state != NodeWaiting || s.again {
			continue
		}
		switch {
		case s.busy != nil:
			f.say(s, "NodeUpgrade %s has the node, and has not ended", s.busy.Name)
		case !s.node.Ready:
			f.say(s, "is not Ready, so nothing can be done on it: %s", cmp.Or(s.node.NotReadyReason, "see `kubectl describe node "+s.node.Name+"`"))
		case s.old != nil:
			actions = append(actions, f.does(Action{Kind: Forget, Node: s.node.Name, Name: s.old.Name, Version: s.to, Why: "the claim is of an earlier upgrade, or of an earlier node of that name"}))
		case fetching >= parallelism:
			f.say(s, "waits to be staged: %d others are, and the plan allows %d at once", fetching, parallelism)
		default:
			fetching++
			actions = append(actions, f.does(Action{Kind: Stage, Node: s.node.Name, Name: ClaimName(s.node.Name, s.to), Version: s.to,
				Resume: f.owner.resume, Why: "fetches programs and images while in service"}))
		}
	}
	return actions
}

// drop ends held claims of the owner's for versions that nodes are no longer to be brought to: they changed meanwhile, or were
// replaced.
func (f *field) drop() []Action {
	var actions []Action
	for i := range f.nodes {
		s := &f.nodes[i]
		if s.busy == nil || s.claim != nil || s.busy.Labels[v1alpha1.LabelUpgrade] != f.owner.name || inFlight(s.busy) || s.busy.Spec.Abort {
			continue
		}
		why := "the node is to be brought to " + s.to + " instead"
		if s.busy.Spec.KubernetesVersion == s.to {
			why = "the claim is of an earlier node of that name"
		}
		actions = append(actions, f.does(Action{Kind: Abort, Node: s.node.Name, Name: s.busy.Name, Version: s.busy.Spec.KubernetesVersion, Why: why}))
	}
	return actions
}
