package rollout

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/snapshot"
)

// Problems says what is wrong with a plan for a cluster: what it would silently do otherwise than whoever wrote it may think. The upgrade
// runs all the same, but for a selector that cannot be read.
func Problems(c *snapshot.Cluster, plan v1alpha1.RolloutPlanSpec) []string {
	var out []string
	say := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	sizes := groupSizes(c, plan)
	for i := range plan.Groups {
		g := &plan.Groups[i]
		unreadable(say, "group "+g.Name, g.NodeSet)
		missing(say, c, "group "+g.Name, g.Nodes)
	}
	badLimits(say, c, plan)
	badMembers(say, c, plan)
	for i := range plan.Groups {
		if sizes[i] == 0 {
			say("group %s is empty", plan.Groups[i].Name)
		}
	}
	if plan.Critical != nil {
		unreadable(say, "critical", *plan.Critical)
		missing(say, c, "critical", plan.Critical.Nodes)
	}
	return out
}

// badMembers says which nodes are in no group or in several, and which control planes are in any: those alike in a line.
func badMembers(say func(string, ...any), c *snapshot.Cluster, plan v1alpha1.RolloutPlanSpec) {
	var lost, masters, several []string // the latter two are lists of groups
	in := map[bool]map[string][]string{true: {}, false: {}}
	for i := range c.Nodes {
		n := &c.Nodes[i]
		names := namesOf(plan, n)
		groups := strings.Join(names, ", ")
		order := &several
		switch {
		case n.ControlPlane && len(names) > 0:
			order = &masters
		case !n.ControlPlane && len(names) == 0 && len(plan.Groups) > 0:
			lost = append(lost, n.Name)
			continue
		case n.ControlPlane || len(names) < 2:
			continue
		}
		if in[n.ControlPlane][groups] == nil {
			*order = append(*order, groups)
		}
		in[n.ControlPlane][groups] = append(in[n.ControlPlane][groups], n.Name)
	}
	for _, groups := range masters {
		say("control planes in a group (%s), though they come first, one by one, whatever the groups say: %s", groups, brief(in[true][groups]))
	}
	for _, groups := range several {
		first, _, _ := strings.Cut(groups, ", ")
		say("in several groups (%s), so taken with %s: %s", groups, first, brief(in[false][groups]))
	}
	if len(lost) > 0 {
		say("in no group, so last: %s", brief(lost))
	}
}

// namesOf are the groups that select a node.
func namesOf(plan v1alpha1.RolloutPlanSpec, n *snapshot.Node) []string {
	var in []string
	for i := range plan.Groups {
		if contains(plan.Groups[i].NodeSet, n) {
			in = append(in, plan.Groups[i].Name)
		}
	}
	return in
}

func unreadable(say func(string, ...any), where string, set v1alpha1.NodeSet) {
	if set.Selector == nil {
		return
	}
	if _, err := metav1.LabelSelectorAsSelector(set.Selector); err != nil {
		say("%s: selector: %v", where, err)
	}
}

func missing(say func(string, ...any), c *snapshot.Cluster, where string, names []string) {
	gone := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return c.Node(name) != nil })
	if len(gone) > 0 {
		say("%s names nodes that do not exist: %s", where, brief(gone))
	}
}
