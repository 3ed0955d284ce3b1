package cli

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"refit.dev/refit/internal/cli/print"
	"refit.dev/refit/internal/rollout"
)

// mostInWave of a wave's nodes are named; more are counted.
const mostInWave = 5

// soaks are how long to wait after steps, by their index: after the last wave of a group that soaks.
func (f *forecast) soaks() map[int]time.Duration {
	after := map[int]time.Duration{}
	for i := range f.plan.Groups {
		g := &f.plan.Groups[i]
		if g.Soak == nil {
			continue
		}
		for step, s := range slices.Backward(f.Steps) {
			if s.Kind == rollout.StepWorkers && s.Group == g.Name && s.Version == f.To {
				after[step] = g.Soak.Duration
				break
			}
		}
	}
	return after
}

// stepTable lists the steps, with a column for groups where there are any.
func stepTable(steps []rollout.PlanStep, soaks map[int]time.Duration) print.Table {
	grouped := slices.ContainsFunc(steps, func(s rollout.PlanStep) bool { return s.Group != "" })
	t := print.Table{Columns: []print.Column{{Name: "STEP"}, {Name: "AFTER"}, {Name: "KIND"}, {Name: "GROUP"}, {Name: "VERSION"}, {Name: "WHAT"}}}
	t.Columns[3].Wide = !grouped
	for i, s := range steps {
		what := stepWhat(s)
		if soak := soaks[i]; soak > 0 {
			what += "; then it soaks " + print.Duration(soak)
		}
		t.Rows = append(t.Rows, []string{strconv.Itoa(i + 1), print.Duration(s.After), string(s.Kind), s.Group, s.Version, what})
	}
	return t
}

func stepWhat(s rollout.PlanStep) string {
	switch s.Kind {
	case rollout.StepNetworking:
		return "manifests of the version"
	case rollout.StepApproval:
		return "waits for a person: " + s.Note
	case rollout.StepVerification:
		return "its Job must succeed, about " + print.Duration(s.Takes)
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
