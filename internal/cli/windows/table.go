package windows

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"refit.dev/refit/internal/cli/print"
)

const noVersion = "none available: hooks and health checks only"

// LocalTime is how a local time is shown: its day of the week and its zone are part of it.
const LocalTime = "Mon 2006-01-02 15:04 MST"

// Local shows a time on the clock of the window's config.
func (w Window) Local(t metav1.Time) string {
	if t.IsZero() {
		return ""
	}
	if w.local == nil {
		return t.UTC().Format(LocalTime)
	}
	return t.In(w.local).Format(LocalTime)
}

// Table lists windows, as seen from a time.
func Table(all []Window, from time.Time) print.Table {
	t := print.Table{Columns: []print.Column{{Name: "CONFIG"}, {Name: "STARTS"}, {Name: "IN"}, {Name: "WEEK"}, {Name: "JOB CREATED"}, {Name: "VERSION"},
		{Name: "START BEFORE", Wide: true}, {Name: "UTC", Wide: true}, {Name: "WHAT"}}}
	for _, w := range all {
		t.Rows = append(t.Rows, []string{w.Config.String(), w.Local(w.Start), w.in(from), w.Week, w.Local(w.JobCreated), w.versionText(),
			w.Local(w.StartBefore), w.utc(), w.what()})
	}
	return t
}

func (w Window) in(from time.Time) string {
	if w.Start.IsZero() {
		return ""
	}
	return print.Span(w.Start.Sub(from))
}

func (w Window) utc() string {
	if w.Start.IsZero() {
		return ""
	}
	return w.Start.UTC().Format(time.RFC3339)
}

func (w Window) versionText() string {
	if w.Version != "" {
		return w.Version
	}
	return w.unpinned
}

func (w Window) what() string {
	switch {
	case w.Problem != "":
		return "never: " + w.Problem
	case w.Note != "":
		return w.Action + " (" + w.Note + ")"
	}
	return w.Action
}
