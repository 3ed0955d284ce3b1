package cli

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"refit.dev/refit/api/managedupgrade/v1beta1"
	"refit.dev/refit/internal/cli/print"
	"refit.dev/refit/internal/cli/windows"
)

// timeColumn of the table changes by itself, as time goes by.
const timeColumn = 5

func jobTable(known *maintenanceSeen, now time.Time) print.Table {
	t := print.Table{Columns: []print.Column{{Name: "NAME"}, {Name: "VERSION"}, {Name: "STARTS"}, {Name: "STATE"}, {Name: "REASON"}, {Name: "TIME"},
		{Name: "START BEFORE", Wide: true}, {Name: "HOOKS", Wide: true}, {Name: "WAITING", Wide: true}}}
	several := false
	for i := range known.jobs {
		several = several || known.jobs[i].Namespace != known.jobs[0].Namespace
	}
	for i := range known.jobs {
		j := &known.jobs[i]
		name := j.Name
		if several {
			name = windows.NameOf(j).String()
		}
		zone := known.zoneOf(j)
		t.Rows = append(t.Rows, []string{name, j.Version(), localTime(j.Spec.StartAfter.Time, zone), string(j.Phase()), jobReason(j), jobTime(j, now),
			localTime(j.Spec.StartBefore.Time, zone), hookText(j.Status.HookTracker), j.Status.Waiting})
	}
	return t
}

func localTime(t time.Time, zone *time.Location) string { return t.In(zone).Format(windows.LocalTime) }

// zoneOf is where the job's config has its clock; UTC where that is not known.
func (m *maintenanceSeen) zoneOf(j *v1beta1.UpgradeJob) *time.Location {
	c := m.configOf(j)
	if c == nil || ofManager(c.Spec.Schedule.Location) {
		return time.UTC
	}
	zone, err := time.LoadLocation(c.Spec.Schedule.Location)
	if err != nil {
		return time.UTC
	}
	return zone
}

// configOf is the config that created a job; nil where it is gone, or none did.
func (m *maintenanceSeen) configOf(j *v1beta1.UpgradeJob) *v1beta1.UpgradeConfig {
	for i := range m.configs {
		if m.configs[i].Namespace == j.Namespace && m.configs[i].Name == configOf(j) {
			return &m.configs[i]
		}
	}
	return nil
}

// jobReason is why a job ended as it did; empty while it has not.
func jobReason(j *v1beta1.UpgradeJob) string {
	if end := j.Outcome(); end != nil {
		return end.Reason
	}
	return ""
}

// began is when a job started; nil where it has not.
func began(j *v1beta1.UpgradeJob) *metav1.Time {
	if c := meta.FindStatusCondition(j.Status.Conditions, v1beta1.ConditionStarted); c != nil && c.Status == metav1.ConditionTrue {
		return &c.LastTransitionTime
	}
	return nil
}

// jobTime is how long a job took, or has taken, or in what time it starts.
func jobTime(j *v1beta1.UpgradeJob, now time.Time) string {
	start, end := began(j), j.Outcome()
	switch {
	case start != nil && end != nil:
		return "took " + print.Duration(end.LastTransitionTime.Sub(start.Time))
	case end != nil:
		return ""
	case start != nil:
		return "for " + print.Duration(now.Sub(start.Time))
	case now.Before(j.Spec.StartAfter.Time):
		return "in " + print.Span(j.Spec.StartAfter.Sub(now))
	}
	return "due"
}

// hookText counts the runs of hooks.
func hookText(runs []v1beta1.HookTracker) string {
	if len(runs) == 0 {
		return ""
	}
	count := map[v1beta1.HookStatus]int{}
	for _, r := range runs {
		count[r.Status]++
	}
	parts := []string{fmt.Sprintf("%d/%d done", count[v1beta1.HookComplete], len(runs))}
	for _, status := range []v1beta1.HookStatus{v1beta1.HookFailed, v1beta1.HookActive} {
		if count[status] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", count[status], status))
		}
	}
	return strings.Join(parts, ", ")
}
