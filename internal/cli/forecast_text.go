package cli

import (
	"fmt"
	"strconv"
	"strings"

	"refit.dev/refit/internal/cli/print"
	"refit.dev/refit/internal/gate"
	"refit.dev/refit/internal/rollout"
)

const (
	// mostLines of a list are printed; the rest is counted.
	mostLines = 40
	// mostInWave of a wave's nodes are named; more are counted.
	mostInWave = 5
)

// write prints the forecast for a person.
func (f *forecast) write(a *app) {
	a.say("%s.", f.summary())
	a.section("Gates before the start", gateTable(f.Gates))
	a.section(fmt.Sprintf("Steps; at most %s out of service at once", plural(f.MaxUnavailable, "worker")), stepTable(f.Steps))
	if len(f.Left) > 0 {
		a.section("Left as they are, as things stand now", leftTable(f.Left))
	}
	if len(f.Blocked) > 0 {
		a.say("\nNothing starts until every gate is open.")
	}
}

// section prints a table under a title.
func (a *app) section(title string, t print.Table) {
	more := len(t.Rows) - mostLines
	if more > 0 {
		t.Rows = t.Rows[:mostLines]
	}
	a.say("\n%s", title)
	for _, line := range t.Lines(false) {
		a.say("  %s", line)
	}
	if more > 0 {
		a.say("  … and %d more", more)
	}
}

func stepTable(steps []rollout.PlanStep) print.Table {
	t := print.Table{Columns: []print.Column{{Name: "STEP"}, {Name: "AFTER"}, {Name: "KIND"}, {Name: "VERSION"}, {Name: "WHAT"}}}
	for i, s := range steps {
		t.Rows = append(t.Rows, []string{strconv.Itoa(i + 1), print.Duration(s.After), string(s.Kind), s.Version, stepWhat(s)})
	}
	return t
}

func stepWhat(s rollout.PlanStep) string {
	if s.Kind == rollout.StepNetworking {
		return "manifests of the version"
	}
	what := strings.Join(s.Nodes, ", ")
	if len(s.Nodes) > mostInWave {
		what = plural(len(s.Nodes), "node")
	}
	if s.First {
		what += ", first"
	}
	switch len(s.Drained) {
	case 0:
		what += ", not drained"
	case len(s.Nodes):
		what += ", drained"
	default:
		what += fmt.Sprintf(", %d drained", len(s.Drained))
	}
	if s.Note != "" {
		what += ": " + s.Note
	}
	return what
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
