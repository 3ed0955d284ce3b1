// Package grouping says, to show it, which group of a RolloutPlan a node belongs to, and what the plan's limits come to in numbers. What is
// done is decided by package rollout alone; the tests hold this package against it.
package grouping

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/snapshot"
)

// Rest is how the workers that no group selects are called.
const Rest = "(rest)"

// mostReasons of a node that no group selects are told.
const mostReasons = 3

// Of names the group of a node: empty for control planes, and where the plan has no groups.
func Of(plan *v1alpha1.RolloutPlanSpec, n *snapshot.Node) string {
	if n.ControlPlane || len(plan.Groups) == 0 {
		return ""
	}
	if in := selecting(plan, n); len(in) > 0 {
		return in[0]
	}
	return Rest
}

// selecting are the groups that select a node, in their order; it belongs to the first.
func selecting(plan *v1alpha1.RolloutPlanSpec, n *snapshot.Node) []string {
	var in []string
	for i := range plan.Groups {
		if missed(plan.Groups[i].NodeSet, n) == "" {
			in = append(in, plan.Groups[i].Name)
		}
	}
	return in
}

// Why says how a node came to its group, or to none.
func Why(plan *v1alpha1.RolloutPlanSpec, n *snapshot.Node) string {
	var parts []string
	if Critical(plan, n) {
		parts = append(parts, "critical: its failure stops the upgrade")
	}
	switch in := selecting(plan, n); {
	case n.ControlPlane:
		parts = append(parts, "control planes come first, one by one")
	case len(plan.Groups) == 0:
	case len(in) == 0:
		parts = append(parts, "no group selects it ("+notSelected(plan, n)+"), so last")
	case len(in) > 1:
		parts = append(parts, "also selected by "+strings.Join(in[1:], ", ")+": the first counts")
	}
	return strings.Join(parts, "; ")
}

// Critical says that the failure of a node stops the upgrade whatever the budgets. A control plane always is.
func Critical(plan *v1alpha1.RolloutPlanSpec, n *snapshot.Node) bool {
	return !n.ControlPlane && plan.Critical != nil && missed(*plan.Critical, n) == ""
}

func notSelected(plan *v1alpha1.RolloutPlanSpec, n *snapshot.Node) string {
	var parts []string
	for i := range plan.Groups {
		if i == mostReasons {
			parts = append(parts, fmt.Sprintf("and %d more", len(plan.Groups)-i))
			break
		}
		parts = append(parts, plan.Groups[i].Name+": "+missed(plan.Groups[i].NodeSet, n))
	}
	return strings.Join(parts, ", ")
}

// missed says why a set does not select a node; empty where it does.
func missed(set v1alpha1.NodeSet, n *snapshot.Node) string {
	if slices.Contains(set.Nodes, n.Name) {
		return ""
	}
	if set.Selector == nil {
		return "names others"
	}
	selector, err := metav1.LabelSelectorAsSelector(set.Selector)
	if err != nil {
		return "its selector cannot be read"
	}
	requirements, _ := selector.Requirements()
	for _, r := range requirements {
		if r.Matches(labels.Set(n.Labels)) {
			continue
		}
		if value, has := n.Labels[r.Key()]; has {
			return fmt.Sprintf("%s is %q", r.Key(), value)
		}
		return "has no label " + r.Key()
	}
	return ""
}
