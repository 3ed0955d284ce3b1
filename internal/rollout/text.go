package rollout

import (
	"fmt"
	"strings"
	"text/tabwriter"
	"time"
)

// mostLines of a list are printed in words; the rest is counted.
const mostLines = 40

// Text is the report as a person reads it, without colours.
func (r *PlanReport) Text() string {
	var b strings.Builder
	if r.Refused != "" {
		return r.Refused + "\n"
	}
	fmt.Fprintf(&b, "%s to %s, %s, about %s.\n", r.From, strings.Join(r.Hops, " to "), plural(len(r.Nodes), "node"), round(r.Estimate))
	r.gates(&b)
	r.steps(&b)
	r.left(&b)
	if len(r.Blocked) > 0 {
		fmt.Fprintf(&b, "\nNothing starts until every gate is open.\n")
	}
	return b.String()
}

func (r *PlanReport) gates(b *strings.Builder) {
	fmt.Fprintf(b, "\nGates before the start\n")
	w := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	for _, v := range r.Gates {
		level := string(v.Level)
		if v.Excluded {
			level += " (excluded)"
		}
		_, _ = fmt.Fprintf(w, "  %s\t%s\t%s\n", v.Gate, level, v.Message)
	}
	_ = w.Flush()
}

func (r *PlanReport) steps(b *strings.Builder) {
	fmt.Fprintf(b, "\nSteps; at most %s out of service at once\n", plural(r.MaxUnavailable, "worker"))
	w := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	for i, s := range r.Steps {
		if i == mostLines {
			_, _ = fmt.Fprintf(w, "  ...\tand %d more\n", len(r.Steps)-i)
			break
		}
		_, _ = fmt.Fprintf(w, "  %d\tafter %s\t%s\t%s\t%s\n", i+1, round(s.After), s.Kind, s.Version, s.what())
	}
	_ = w.Flush()
}

func (s *PlanStep) what() string {
	if s.Kind == StepNetworking {
		return "manifests of the version"
	}
	what := brief(s.Nodes)
	if s.First {
		what += ", first"
	}
	switch {
	case len(s.Drained) == 0:
		what += ", not drained"
	case len(s.Drained) == len(s.Nodes):
		what += ", drained"
	default:
		what += fmt.Sprintf(", %d drained", len(s.Drained))
	}
	if s.Note != "" {
		what += ": " + s.Note
	}
	return what
}

func (r *PlanReport) left(b *strings.Builder) {
	if len(r.Left) == 0 {
		return
	}
	fmt.Fprintf(b, "\nLeft as they are, as things stand now\n")
	w := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	for i, n := range r.Left {
		if i == mostLines {
			_, _ = fmt.Fprintf(w, "  ...\tand %d more\n", len(r.Left)-i)
			break
		}
		_, _ = fmt.Fprintf(w, "  %s\t%s\t%s\n", n.Node, n.From, n.Reason)
	}
	_ = w.Flush()
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// round drops what an estimate does not know: seconds beyond some minutes.
func round(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d min %02d s", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%d h %02d min", int(d.Hours()), int(d.Minutes())%60)
}
