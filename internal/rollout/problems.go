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
	sizes := map[string]int{}
	for i := range plan.Groups {
		g := &plan.Groups[i]
		unreadable(say, "group "+g.Name, g.NodeSet)
		missing(say, c, "group "+g.Name, g.Nodes)
		most := g.MaxUnavailable
		if most == nil {
			most = plan.MaxUnavailable
		}
		if g.Parallelism != nil && limit(g.Parallelism, len(c.Nodes)) > limit(most, len(c.Nodes)) {
			say("group %s: parallelism %s can never be met, as no more than %d may be out of service", g.Name, g.Parallelism.String(), limit(most, len(c.Nodes)))
		}
	}
	var none []string
	for i := range c.Nodes {
		n := &c.Nodes[i]
		in := namesOf(plan, n)
		switch {
		case n.ControlPlane && len(in) > 0:
			say("control plane %s is in group %s: control planes come first, one by one, whatever the groups say", n.Name, strings.Join(in, ", "))
		case n.ControlPlane:
		case len(in) == 0 && len(plan.Groups) > 0:
			none = append(none, n.Name)
		case len(in) > 1:
			say("%s is in groups %s: it belongs to the first", n.Name, strings.Join(in, ", "))
		}
		if len(in) > 0 && !n.ControlPlane {
			sizes[in[0]]++
		}
	}
	if len(none) > 0 {
		say("in no group, so last: %s", brief(none))
	}
	for i := range plan.Groups {
		if sizes[plan.Groups[i].Name] == 0 {
			say("group %s is empty", plan.Groups[i].Name)
		}
	}
	if plan.Critical != nil {
		unreadable(say, "critical", *plan.Critical)
		missing(say, c, "critical", plan.Critical.Nodes)
	}
	return out
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
