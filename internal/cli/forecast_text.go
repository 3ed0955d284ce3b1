package cli

import (
	"fmt"

	"refit.dev/refit/internal/cli/print"
	"refit.dev/refit/internal/gate"
	"refit.dev/refit/internal/rollout"
)

// mostLines of a list are printed; the rest is counted.
const mostLines = 40

// write prints the forecast for a person.
func (f *forecast) write(a *app) {
	a.say("%s.", f.summary())
	a.section("Gates before the start", gateTable(f.Gates))
	f.writeSteps(a)
	if len(f.Blocked) > 0 {
		a.say("\nNothing starts until every gate is open.")
	}
}

// writeSteps prints what would be done, what would not, and what is wrong with the plan.
func (f *forecast) writeSteps(a *app) {
	a.section(fmt.Sprintf("Steps; at most %s out of service at once", plural(f.MaxUnavailable, "worker")), stepTable(f.Steps, f.soaks()))
	if len(f.Left) > 0 {
		a.section("Left as they are, as things stand now", leftTable(f.Left))
	}
	if len(f.Problems) > 0 {
		a.say("\nProblems of the plan")
		for _, problem := range f.Problems {
			a.say("  %s", problem)
		}
	}
}

// table prints a whole table under a title.
func (a *app) table(title string, t print.Table) {
	a.say("\n%s", title)
	for _, line := range t.Lines(false) {
		a.say("  %s", line)
	}
}

// section prints a table under a title, its first lines where it is long.
func (a *app) section(title string, t print.Table) {
	more := len(t.Rows) - mostLines
	if more > 0 {
		t.Rows = t.Rows[:mostLines]
	}
	a.table(title, t)
	if more > 0 {
		a.say("  … and %d more", more)
	}
}

func leftTable(left []rollout.NodeNote) print.Table {
	t := print.Table{Columns: []print.Column{{Name: "NODE"}, {Name: "RUNS"}, {Name: "WHY"}}}
	for _, n := range left {
		t.Rows = append(t.Rows, []string{n.Node, n.From, n.Reason})
	}
	return t
}

// gateTable lists verdicts, for `refit plan` and `refit health`.
func gateTable(verdicts []gate.Verdict) print.Table {
	t := print.Table{Columns: []print.Column{{Name: "GATE"}, {Name: "VERDICT"}, {Name: "SAW"}}}
	for _, v := range verdicts {
		level := string(v.Level)
		if v.Excluded {
			level += " (excluded)"
		}
		t.Rows = append(t.Rows, []string{v.Gate, level, v.Message})
	}
	return t
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
