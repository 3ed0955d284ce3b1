package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"refit.dev/refit/api/managedupgrade/v1beta1"
	"refit.dev/refit/internal/cli/print"
	"refit.dev/refit/internal/cli/windows"
	"refit.dev/refit/internal/hook"
)

// lines are the whole story.
func (s *jobStory) lines() []string {
	out := []string{fmt.Sprintf("UpgradeJob %s %s.", windows.NameOf(s.job), s.headline()), ""}
	for _, p := range slices.Concat(s.properties(), s.surroundings()) {
		if p.value != "" {
			out = append(out, fmt.Sprintf("%-11s %s", p.name+":", p.value))
		}
	}
	section := func(title string, lines []string) {
		if len(lines) > 0 {
			out = append(out, "", title)
			for _, l := range lines {
				out = append(out, "  "+l)
			}
		}
	}
	section("What happened:", s.timeline())
	section(s.health())
	section("Hooks:", s.hooks())
	section("Next:", s.advice())
	return out
}

type property struct{ name, value string }

// properties are what the job itself says.
func (s *jobStory) properties() []property {
	j := s.job
	message, version := "", j.Version()
	if end := j.Outcome(); end != nil {
		message = end.Message
	}
	if version == "" {
		version = "none: hooks and health checks only"
	}
	config := configOf(j)
	switch {
	case config == "":
		config = "none: no UpgradeConfig created it"
	case s.config == nil:
		config += ", which is gone"
	}
	return []property{
		{"Message", message}, {"Waiting", j.Status.Waiting}, {"Version", version}, {"Config", config},
		{"Starts", fmt.Sprintf("%s, at the latest %s", s.local(j.Spec.StartAfter), s.local(j.Spec.StartBefore))},
		{"Time", jobTime(j, s.now)},
	}
}

func (s *jobStory) local(t metav1.Time) string { return localTime(t.Time, s.zone) }

// timeline is what happened, in the order of time.
func (s *jobStory) timeline() []string {
	all := append([]metav1.Condition{{Type: "(created)", LastTransitionTime: s.job.CreationTimestamp}}, s.job.Status.Conditions...)
	slices.SortStableFunc(all, func(a, b metav1.Condition) int { return a.LastTransitionTime.Compare(b.LastTransitionTime.Time) })
	t := print.Table{Columns: []print.Column{{Name: "TIME"}, {Name: "CONDITION"}, {Name: "STATUS"}, {Name: "REASON"}, {Name: "MESSAGE"}}}
	for _, c := range all {
		message := c.Message
		switch {
		case c.Type == s.checked():
			message = "see below"
		case c.Status == metav1.ConditionTrue && (c.Type == v1beta1.ConditionSucceeded || c.Type == v1beta1.ConditionFailed):
			message = "see above"
		}
		at := c.LastTransitionTime.In(s.zone).Format("2006-01-02 15:04:05 MST")
		t.Rows = append(t.Rows, []string{at, c.Type, string(c.Status), c.Reason, message})
	}
	return t.Lines(false)
}

// checked is the condition of the last health check, empty where none was made.
func (s *jobStory) checked() string {
	for _, kind := range []string{v1beta1.ConditionPostHealthCheckDone, v1beta1.ConditionPreHealthCheckDone} {
		if meta.FindStatusCondition(s.job.Status.Conditions, kind) != nil {
			return kind
		}
	}
	return ""
}

// health is what the last health check saw, under a title.
func (s *jobStory) health() (string, []string) {
	kind := s.checked()
	c := meta.FindStatusCondition(s.job.Status.Conditions, kind)
	if c == nil {
		return "", nil
	}
	when := "before"
	if kind == v1beta1.ConditionPostHealthCheckDone {
		when = "after"
	}
	// What each gate saw, a line each; see gate.Summary.
	return fmt.Sprintf("The last health check, %s the upgrade:", when), strings.Split(strings.ReplaceAll(c.Message, "; gate ", "\ngate "), "\n")
}

// hooks are the runs of hooks, and the Jobs whose logs tell more.
func (s *jobStory) hooks() []string {
	t := print.Table{Columns: []print.Column{{Name: "EVENT"}, {Name: "POOL"}, {Name: "HOOK"}, {Name: "STATUS"}, {Name: "JOB"}, {Name: "MESSAGE"}}}
	for _, r := range s.job.Status.HookTracker {
		name := hookJob(s.job, r)
		if s.runs != nil && !s.runs[name] {
			name += " (deleted)"
		}
		t.Rows = append(t.Rows, []string{string(r.HookEvent), r.TrackingKey, r.UpgradeJobHook, cmp.Or(string(r.Status), "unknown"), name, r.Message})
	}
	if len(t.Rows) == 0 {
		return nil
	}
	return t.Lines(false)
}

// hookJob is the name of the Job of a hook's run.
func hookJob(j *v1beta1.UpgradeJob, r v1beta1.HookTracker) string {
	return hook.Name(j.Name, r.UpgradeJobHook, r.HookEvent, r.TrackingKey)
}
