package cli

import (
	"fmt"
	"strconv"

	"refit.dev/refit/internal/cli/grouping"
	"refit.dev/refit/internal/cli/print"
)

// write prints the plan for a person. -o wide lists every node; otherwise many are counted.
func (e *explained) write(a *app, output print.Format) {
	a.say("RolloutPlan %s: %s.", e.Plan, e.summary())
	a.say("No cluster was asked: gates, etcd and the versions that are imported were not looked at.")
	for _, what := range e.Assumed {
		a.say("Assumed: %s.", what)
	}
	if output == print.Wide {
		a.table("Nodes", memberTable(e.Members))
	} else {
		a.section("Nodes", memberTable(e.Members))
	}
	if len(e.Groups) > 0 {
		a.section("Groups; "+mayFail(e.FailureBudget), groupTable(e.Groups))
	} else {
		a.say("\nNo groups: all workers are taken together; %s.", mayFail(e.FailureBudget))
	}
	e.writeSteps(a)
}

// mayFail says how many workers may fail in all.
func mayFail(budget int) string {
	if budget == 0 {
		return "the first worker that fails stops the upgrade"
	}
	return fmt.Sprintf("%s may fail in all before the upgrade stops", plural(budget, "worker"))
}

func memberTable(members []member) print.Table {
	t := print.Table{Columns: []print.Column{{Name: "NODE"}, {Name: "ROLE"}, {Name: "VERSION"}, {Name: "GROUP"}, {Name: "NOTE"}}}
	for _, m := range members {
		t.Rows = append(t.Rows, []string{m.Node, m.Role, m.Version, m.Group, m.Why})
	}
	return t
}

// groupTable lists groups with their limits as numbers.
func groupTable(groups []grouping.Group) print.Table {
	t := print.Table{Columns: []print.Column{{Name: "GROUP"}, {Name: "NODES"}, {Name: "BEGINS"}, {Name: "OUT AT ONCE"}, {Name: "IN FLIGHT"},
		{Name: "MAY FAIL"}, {Name: "DRAIN"}, {Name: "AT THE END"}}}
	for i, g := range groups {
		out := strconv.Itoa(g.MaxUnavailable)
		if g.PerDomain > 0 {
			out += fmt.Sprintf(", %d of one %s", g.PerDomain, g.SpreadTopologyKey)
		}
		t.Rows = append(t.Rows, []string{g.Name, strconv.Itoa(g.Nodes), begins(groups, i), out, strconv.Itoa(g.Parallelism),
			strconv.Itoa(g.FailureBudget), string(g.Drain), atTheEnd(g)})
	}
	return t
}

// begins says when the turn of a group comes.
func begins(groups []grouping.Group, i int) string {
	when := "first"
	switch {
	case i > 0 && groups[i].BesidePrevious:
		when = "beside " + groups[i-1].Name
	case i > 0:
		when = "after " + groups[i-1].Name
	}
	if groups[i].Approval {
		when += ", once approved"
	}
	return when
}

func atTheEnd(g grouping.Group) string {
	switch {
	case g.Soak != nil && g.Verify:
		return "soaks " + print.Duration(g.Soak.Duration) + ", then its Job"
	case g.Soak != nil:
		return "soaks " + print.Duration(g.Soak.Duration)
	case g.Verify:
		return "its Job"
	}
	return ""
}
