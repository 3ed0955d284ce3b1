package rollout

import (
	"cmp"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/snapshot"
)

// fetching are the names of the nodes of a type that fetch what they need.
func fetching(c *snapshot.Cluster, of v1alpha1.NodeType) []string {
	var names []string
	for _, nu := range c.NodeUpgrades {
		if nu.Spec.NodeType == of && staging(nu) {
			names = append(names, nodeOf(nu))
		}
	}
	return names
}

// stage creates held claims for at most that many nodes that have none. What the others wait for is told of them.
func (f *field) stage(room int, waits string) []Action {
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
		case room <= 0:
			f.say(s, "waits to be staged: %s", waits)
		default:
			room--
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
