package rollout

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/intstr"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/snapshot"
)

// badLimits says which limits and budgets of a plan come to something else in this cluster than they look like.
func badLimits(say func(string, ...any), c *snapshot.Cluster, plan v1alpha1.RolloutPlanSpec) {
	workers := countWorkers(c)
	tooHigh(say, "the plan", "maxUnavailable", plan.MaxUnavailable, workers, workers, "there are no more workers")
	sizes, all := groupSizes(c, plan), mostUnavailable(c, plan)
	for i := range plan.Groups {
		g := &plan.Groups[i]
		if sizes[i] == 0 {
			continue // that it is empty says enough
		}
		name, most := "group "+g.Name, groupLimit(&plan, g, sizes[i])
		switch {
		case g.MaxUnavailable == nil:
		case tooHigh(say, name, "maxUnavailable", g.MaxUnavailable, sizes[i], sizes[i], "the group has no more nodes"):
		default:
			tooHigh(say, name, "maxUnavailable", g.MaxUnavailable, sizes[i], all, fmt.Sprintf("no more than %d workers may be out of service in all", all))
		}
		tooHigh(say, name, "parallelism", g.Parallelism, sizes[i], most, fmt.Sprintf("no more than %d may be out of service", most))
		if g.SpreadTopologyKey != "" && !slices.ContainsFunc(c.Nodes, func(n snapshot.Node) bool { return contains(g.NodeSet, &n) && n.Labels[g.SpreadTopologyKey] != "" }) {
			say("%s: no node of it has the label %s, so it is not spread", name, g.SpreadTopologyKey)
		}
	}
	badBudgets(say, plan, sizes, workers)
}

// tooHigh says that a limit can never be met.
func tooHigh(say func(string, ...any), whose, field string, given *intstr.IntOrString, of, most int, why string) bool {
	if given == nil || limit(given, of) <= max(1, most) {
		return false
	}
	say("%s: %s %s can never be met, as %s", whose, field, given.String(), why)
	return true
}

// badBudgets says which budgets bear no failure although they look as if they did, and which bear any.
func badBudgets(say func(string, ...any), plan v1alpha1.RolloutPlanSpec, sizes []int, workers int) {
	ofAll := none(plan.FailureBudget, workers)
	if ofAll {
		say("failureBudget %s of %s is none, so the first failure stops the upgrade: give it as a number, such as 1", plan.FailureBudget.String(), plural(workers, "worker"))
	}
	unbounded(say, "the plan", plan.FailureBudget, workers, "none of them stops the upgrade")
	for i := range plan.Groups {
		g := &plan.Groups[i]
		own, whose := g.FailureBudget, "failureBudget"
		if own == nil {
			own, whose = plan.FailureBudget, "the plan's failureBudget"
		}
		if none(own, sizes[i]) && !(ofAll && g.FailureBudget == nil) {
			say("group %s: %s %s of its %s is none, so its first failure stops the upgrade: give the group a number, such as failureBudget: 1",
				g.Name, whose, own.String(), plural(sizes[i], "node"))
		}
		stops := "none of them stops the upgrade"
		if proves(g) {
			stops = "the upgrade stops only where all of them fail, as nothing is proven then"
		}
		unbounded(say, "group "+g.Name, g.FailureBudget, sizes[i], stops)
	}
}

// none says that a percentage comes to nothing. Of a single node nobody expects anything else.
func none(given *intstr.IntOrString, of int) bool {
	return given != nil && given.Type == intstr.String && of > 1 && percent(given.StrVal, 100) > 0 && budget(given, of) == 0
}

// unbounded says that a budget stops nothing, or next to nothing.
func unbounded(say func(string, ...any), whose string, given *intstr.IntOrString, of int, stops string) {
	if given != nil && of > 0 && budget(given, of) >= of {
		say("%s: failureBudget %s bears every failure of %s: %s", whose, given.String(), plural(of, "node"), stops)
	}
}

// groupSizes are how many workers belong to each group.
func groupSizes(c *snapshot.Cluster, plan v1alpha1.RolloutPlanSpec) []int {
	sizes, of := make([]int, len(plan.Groups)+1), groupOf(&plan)
	for i := range c.Nodes {
		if n := &c.Nodes[i]; !n.ControlPlane {
			sizes[of(n)]++
		}
	}
	return sizes
}
