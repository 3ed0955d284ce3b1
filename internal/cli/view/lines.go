package view

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"charm.land/lipgloss/v2"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/cli/print"
)

// rowLines draws as many nodes as there is room for: all of them in their order, or else those of most interest.
func rowLines(rows []Row, now time.Time, room int) []string {
	details := inFlight(rows)
	if len(rows)+1+len(details) > room {
		details = nil
	}
	shown, rest := pick(rows, room-1)
	t := print.Table{Columns: []print.Column{{Name: "NODE"}, {Name: "ROLE"}, {Name: "VERSION"}, {Name: "PHASE"}, {Name: "STEP"}, {Name: "TIME"}}}
	for _, r := range shown {
		t.Rows = append(t.Rows, []string{r.Node, r.Role, r.Version, r.PhaseText(), r.StepText(), r.Elapsed(now)})
	}
	table := t.Lines(false)
	lines := []string{"  " + dim.Render(table[0])}
	for i, r := range shown {
		mark, style := markOf(r)
		lines = append(lines, style.Render(mark)+" "+table[i+1])
		if slices.Contains(details, r.Node) {
			lines = append(lines, dim.Render("    "+timesText(r, now)))
		}
	}
	if rest != "" {
		lines = append(lines, dim.Render("  "+rest))
	}
	return lines
}

// inFlight are the nodes of which the single steps are shown.
func inFlight(rows []Row) []string {
	var names []string
	for _, r := range rows {
		if r.Phase == v1alpha1.NodeUpgrading || r.Phase == v1alpha1.NodeFailed {
			names = append(names, r.Node)
		}
	}
	return names
}

// pick chooses the rows to show, and says in words what is left out.
func pick(rows []Row, room int) (shown []Row, rest string) {
	if len(rows) <= room {
		return rows, ""
	}
	room = max(room-1, 1)
	byInterest := slices.Clone(rows)
	slices.SortStableFunc(byInterest, func(a, b Row) int {
		if d := cmp.Compare(interest(a), interest(b)); d != 0 {
			return d
		}
		return b.FinishedAt.Compare(a.FinishedAt)
	})
	counts := map[string]int{}
	for _, r := range byInterest[room:] {
		counts[r.PhaseText()]++
	}
	var parts []string
	for _, phase := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, fmt.Sprintf("%d %s", counts[phase], strings.ToLower(phase)))
	}
	return byInterest[:room], fmt.Sprintf("… and %d more: %s", len(rows)-room, strings.Join(parts, ", "))
}

func interest(r Row) int {
	switch r.Phase {
	case v1alpha1.NodeFailed:
		return 0
	case v1alpha1.NodeUpgrading:
		return 1
	case v1alpha1.NodeSkipped, v1alpha1.NodeAborted:
		return 2
	case v1alpha1.NodeStaging:
		return 3
	case v1alpha1.NodeCompleted:
		return 4
	}
	return 5
}

// PhaseText is the phase of the node's upgrade, also where that has not begun.
func (r Row) PhaseText() string {
	if r.Phase == "" {
		return "Waiting"
	}
	return string(r.Phase)
}

func markOf(r Row) (string, lipgloss.Style) {
	switch r.Phase {
	case v1alpha1.NodeCompleted:
		return "✓", green
	case v1alpha1.NodeFailed:
		return "✗", red
	case v1alpha1.NodeUpgrading:
		return "▸", yellow
	case v1alpha1.NodeSkipped, v1alpha1.NodeAborted:
		return "-", yellow
	}
	return "·", dim
}

// timesText lists the steps that are done or under way, each with its time.
func timesText(r Row, now time.Time) string {
	var parts []string
	for _, s := range r.StepTimes {
		switch s.State {
		case v1alpha1.StepSucceeded:
			parts = append(parts, fmt.Sprintf("%s %s", s.Name, print.Duration(s.FinishedAt.Sub(s.StartedAt))))
		case v1alpha1.StepRunning:
			parts = append(parts, fmt.Sprintf("%s %s…", s.Name, print.Duration(now.Sub(s.StartedAt))))
		case v1alpha1.StepFailed:
			parts = append(parts, fmt.Sprintf("%s failed", s.Name))
		}
	}
	return strings.Join(parts, "  ")
}
