package rollout

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/snapshot"
	"refit.dev/refit/internal/version"
)

// field is a set of nodes on their way, in the order in which they are taken, and the notes made about them.
type field struct {
	cluster *snapshot.Cluster
	claims  claims
	owner   owner
	nodes   []standing
	notes   map[string]*NodeNote
	// drain is the drain policy of nodes that have one of their own.
	drain map[string]*v1alpha1.DrainPolicy
}

// newField looks at those nodes for which `to` names a version, in natural order.
func newField(c *snapshot.Cluster, cl claims, o owner, to func(*snapshot.Node) string) *field {
	f := &field{cluster: c, claims: cl, owner: o, drain: map[string]*v1alpha1.DrainPolicy{}, nodes: make([]standing, 0, len(c.Nodes))}
	for i := range c.Nodes {
		if v := to(&c.Nodes[i]); v != "" {
			f.nodes = append(f.nodes, cl.stand(&c.Nodes[i], v, o))
		}
	}
	slices.SortFunc(f.nodes, func(a, b standing) int { return natural(a.node.Name, b.node.Name) })
	f.notes = make(map[string]*NodeNote, len(f.nodes))
	notes := make([]NodeNote, len(f.nodes))
	for i := range f.nodes {
		s := &f.nodes[i]
		notes[i] = NodeNote{Node: s.node.Name, Type: s.node.Type(), State: s.state, From: version.OfNode(s.node), To: s.to, Reason: s.reason()}
		f.notes[s.node.Name] = &notes[i]
	}
	return f
}

// reason says what there is to say about the node as it stands.
func (s *standing) reason() string {
	switch {
	case s.state == NodeInFlight && s.busy != nil:
		return fmt.Sprintf("NodeUpgrade %s has it", s.busy.Name)
	case s.state == NodeInFlight && !s.node.Ready:
		return strings.TrimPrefix(string(s.claim.Status.Step)+", not Ready: ", ", ") + cmp.Or(s.node.NotReadyReason, "no reason given")
	case s.state == NodeInFlight && s.claim.Status.Step != "":
		return "step " + string(s.claim.Status.Step)
	case s.state == NodeFailed || s.state == NodeSkipped:
		return failure(s.claim)
	case s.state == NodeAborted:
		return "the upgrade was aborted before it was changed"
	case s.state == NodeDone && !s.node.Ready:
		return "runs the version, but is not Ready"
	case s.state == NodeDone && s.node.Cordoned:
		return "runs the version; its cordon was there before, and stays"
	}
	return ""
}

// say notes why nothing is done to a node, unless something is known about it already.
func (f *field) say(s *standing, format string, args ...any) {
	if n := f.notes[s.node.Name]; n.Reason == "" && n.Action == "" {
		n.Reason = fmt.Sprintf(format, args...)
	}
}

// sayAll says the same about every node that waits.
func (f *field) sayAll(format string, args ...any) {
	for i := range f.nodes {
		if s := &f.nodes[i]; s.waits() {
			f.say(s, format, args...)
		}
	}
}

// does notes that something is done to a node.
func (f *field) does(a Action) Action {
	n := f.notes[a.Node]
	n.Action, n.Reason = a.Kind, a.Why
	return a
}

// waits says that the node is still to be begun.
func (s *standing) waits() bool {
	return s.state == NodeWaiting || s.state == NodeStaging || s.state == NodeStaged
}

// in are the names of the nodes in one of the states, in order.
func (f *field) in(states ...NodeState) []string {
	var out []string
	for i := range f.nodes {
		if slices.Contains(states, f.nodes[i].state) {
			out = append(out, f.nodes[i].node.Name)
		}
	}
	return out
}

// failed is the first node that failed, nil where none did. A node that is gone fails nothing: it is in no field.
func (f *field) failed() *standing {
	for i := range f.nodes {
		if f.nodes[i].state == NodeFailed {
			return &f.nodes[i]
		}
	}
	return nil
}

// list adds the notes in the order of the nodes.
func (f *field) list(out []NodeNote) []NodeNote {
	for i := range f.nodes {
		out = append(out, *f.notes[f.nodes[i].node.Name])
	}
	return out
}

// begin is the action that takes a node out of service: Retry where it was tried before, otherwise Start.
func (f *field) begin(s *standing, first bool, why string) Action {
	kind := Start
	if s.again {
		kind = Retry
	}
	return f.does(Action{Kind: kind, Node: s.node.Name, Name: s.claim.Name, Version: s.to, First: first, Resume: f.owner.resume, Drain: f.drain[s.node.Name], Why: why})
}

// begun says that this decision takes the node out of service.
func (f *field) begun(s *standing) bool {
	a := f.notes[s.node.Name].Action
	return a == Start || a == Retry
}

// ready says whether the node could begin at once, as far as it is itself concerned; otherwise why not.
func (s *standing) ready() (bool, string) {
	switch {
	case s.busy != nil:
		return false, fmt.Sprintf("NodeUpgrade %s has the node, and has not ended", s.busy.Name)
	case !s.node.Ready:
		return false, "is not Ready, so nothing can be done on it: " + cmp.Or(s.node.NotReadyReason, "see `kubectl describe node "+s.node.Name+"`")
	case s.again || s.state == NodeStaged:
		return true, ""
	case s.state == NodeStaging:
		return false, "is being staged"
	}
	return false, "is not staged yet"
}
