package view

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"charm.land/lipgloss/v2"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/cli/feed"
	"refit.dev/refit/internal/cli/print"
)

var (
	bold   = lipgloss.NewStyle().Bold(true)
	dim    = lipgloss.NewStyle().Faint(true)
	green  = lipgloss.NewStyle().Foreground(lipgloss.Green)
	yellow = lipgloss.NewStyle().Foreground(lipgloss.Yellow)
	red    = lipgloss.NewStyle().Foreground(lipgloss.Red)
)

// Screen draws an upgrade, at most so many lines high and columns wide.
func Screen(upgrade string, seen feed.Seen, now time.Time, width, height int) string {
	u := seen.Upgrade(upgrade)
	if u == nil {
		return "Upgrade " + upgrade + " does not exist any more.\n"
	}
	rows := Rows(seen.Nodes, ofUpgrade(seen.NodeUpgrades, upgrade))
	head := append([]string{heading(u, now), bar(u, rows, min(width-1, 40))}, groupLines(u, width)...)
	head = append(head, "")
	foot := footing(u, seen, now, width)
	room := max(height-len(head)-len(foot)-2, 1)
	lines := slices.Concat(head, rowLines(rows, now, room), foot)
	for i := range lines {
		lines[i] = lipgloss.NewStyle().MaxWidth(max(width, 20)).Render(lines[i])
	}
	return strings.Join(lines, "\n") + "\n"
}

func ofUpgrade(all []v1alpha1.NodeUpgrade, upgrade string) []v1alpha1.NodeUpgrade {
	var out []v1alpha1.NodeUpgrade
	for _, u := range all {
		if u.Labels[v1alpha1.LabelUpgrade] == upgrade {
			out = append(out, u)
		}
	}
	return out
}

func heading(u *v1alpha1.KubernetesUpgrade, now time.Time) string {
	versions := u.Spec.ToVersion
	if len(u.Status.Hops) > 0 {
		versions = strings.Join(u.Status.Hops, " → ")
	}
	if u.Status.FromVersion != "" {
		versions = u.Status.FromVersion + " → " + versions
	}
	text := bold.Render("Kubernetes "+versions) + "   " + stateStyle(u.Status.State).Render(string(u.Status.State))
	if u.Spec.Paused {
		text += "   " + yellow.Render("paused")
	}
	if u.Status.StartedAt != nil {
		end := now
		if u.Status.CompletedAt != nil {
			end = u.Status.CompletedAt.Time
		}
		text += "   " + print.Duration(end.Sub(u.Status.StartedAt.Time))
	}
	return text
}

func stateStyle(s v1alpha1.UpgradeState) lipgloss.Style {
	switch s {
	case v1alpha1.StateUpgradeComplete:
		return green
	case v1alpha1.StateUpgradeFailed, v1alpha1.StateUpgradeAborting, v1alpha1.StateUpgradeAborted:
		return red
	}
	return yellow
}

// bar shows how many nodes are done.
func bar(u *v1alpha1.KubernetesUpgrade, rows []Row, width int) string {
	done := 0
	for _, r := range rows {
		if r.Phase == v1alpha1.NodeCompleted && r.Target == u.Spec.ToVersion {
			done++
		}
	}
	filled := 0
	if len(rows) > 0 {
		filled = max(width, 0) * done / len(rows)
	}
	text := green.Render(strings.Repeat("█", filled)) + dim.Render(strings.Repeat("░", max(width-filled, 0)))
	return fmt.Sprintf("%s  %d of %d nodes", text, done, len(rows))
}

func footing(u *v1alpha1.KubernetesUpgrade, seen feed.Seen, now time.Time, width int) []string {
	lines := []string{""}
	if u.Status.Waiting != "" {
		lines = append(lines, wrap("Waiting: "+u.Status.Waiting, width, 3)...)
	}
	if !seen.LostSince.IsZero() && now.Sub(seen.LostSince) >= 2*time.Second {
		lines = append(lines, yellow.Render(fmt.Sprintf("The API server has not answered for %s; the nodes go on by themselves.",
			print.Duration(now.Sub(seen.LostSince)))))
	}
	return append(lines, dim.Render("Ctrl-C stops watching; the upgrade goes on."))
}

// wrap breaks a text into at most so many lines.
func wrap(text string, width, limit int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && lipgloss.Width(line)+1+lipgloss.Width(word) > max(width, 20) {
			lines = append(lines, line)
			line = ""
		}
		line = strings.TrimSpace(line + " " + word)
	}
	lines = append(lines, line)
	if len(lines) > limit {
		lines = append(lines[:limit-1], lines[limit-1]+" …")
	}
	return lines
}
