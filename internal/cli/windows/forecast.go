package windows

import (
	"fmt"
	"slices"
	"time"

	configv1 "github.com/openshift/api/config/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"refit.dev/refit/api/managedupgrade/v1beta1"
	"refit.dev/refit/internal/maintenance"
	"refit.dev/refit/internal/schedule"
)

// Input is what is known of a config.
type Input struct {
	Config *v1beta1.UpgradeConfig
	// Jobs are those that the config created.
	Jobs []v1beta1.UpgradeJob
	// Suspensions are the UpgradeSuspensionWindows, of its namespace or more.
	Suspensions []v1beta1.UpgradeSuspensionWindow
	// Available are the versions that could be installed now, where VersionsSeen.
	Available    []configv1.Release
	VersionsSeen bool
	// Now is zero where there is no cluster: then nothing has happened yet, and every job is created when it is to be.
	Now time.Time
	// From is from when on windows are shown, Count how many.
	From  time.Time
	Count int
}

// Forecast is the windows to come of a config, and what would happen in each if nothing changes until then and every job ends before the
// next is created. An error is a *schedule.FieldError.
func Forecast(in Input) ([]Window, error) {
	plan, err := schedule.Parse(maintenance.Spec(in.Config))
	if err != nil {
		return nil, err
	}
	f := &forecaster{Input: in, plan: plan, spans: maintenance.Windows(in.Config)}
	var out []Window
	for _, at := range f.starts() {
		out = append(out, f.window(f.spans.Slot(at)))
	}
	return out, nil
}

type forecaster struct {
	Input
	plan  *schedule.Schedule
	spans schedule.Windows
	// made are the jobs that would have been created until then.
	made []v1beta1.UpgradeJob
}

// starts are those of the schedule, and of jobs that start beside it: the schedule may have been changed since.
func (f *forecaster) starts() []time.Time {
	starts := f.plan.NextN(f.From.Add(-time.Nanosecond), f.Count)
	for i := range f.Jobs {
		at := f.Jobs[i].Spec.StartAfter.Time
		if !at.Before(f.From) && !slices.ContainsFunc(starts, at.Equal) {
			starts = append(starts, at)
		}
	}
	slices.SortFunc(starts, time.Time.Compare)
	return starts[:min(len(starts), f.Count)]
}

func (f *forecaster) window(slot schedule.Slot) Window {
	local := slot.At.In(f.plan.Location())
	year, week := f.plan.Week(slot.At)
	w := Window{
		Config: NameOf(f.Config), Start: metav1.NewTime(slot.At), StartLocal: local.Format(time.RFC3339), Week: fmt.Sprintf("%d-W%02d", year, week),
		JobCreated: metav1.NewTime(slot.PinAt), StartBefore: metav1.NewTime(slot.StartBefore), local: f.plan.Location(),
	}
	w.Note = clockChange(maintenance.Spec(f.Config), f.plan, slot.At)
	for i := range f.Jobs {
		if f.Jobs[i].Spec.StartAfter.Time.Equal(slot.At) {
			f.created(&w, &f.Jobs[i])
			return w
		}
	}
	f.planned(&w, slot)
	return w
}

// created tells of a window whose job exists.
func (f *forecaster) created(w *Window, job *v1beta1.UpgradeJob) {
	w.Job, w.Version, w.StartBefore = job.Name, job.Version(), job.Spec.StartBefore
	w.unpinned = noVersion
	if !slices.ContainsFunc(f.plan.NextN(w.Start.Add(-time.Nanosecond), 1), w.Start.Time.Equal) {
		w.JobCreated = job.CreationTimestamp
	}
	end := job.Outcome()
	switch {
	case end != nil && end.Reason == v1beta1.ReasonSkipped:
		w.Action = fmt.Sprintf("job %s was skipped: %s", job.Name, end.Message)
	case end != nil && job.Is(v1beta1.ConditionSucceeded):
		w.Action = fmt.Sprintf("job %s has succeeded", job.Name)
	case end != nil:
		w.Action = fmt.Sprintf("job %s has failed: %s", job.Name, end.Reason)
	case job.Phase() != v1beta1.JobPending:
		w.Action = fmt.Sprintf("job %s is %s", job.Name, job.Phase())
	default:
		w.Action = fmt.Sprintf("job %s is created", job.Name)
		if skipped := f.skipped(w, job, later(w.Start.Time, f.Now)); skipped != "" {
			w.Action += ", and " + skipped
		}
	}
}

// skipped says that a window will keep the job from starting, empty where none does.
func (f *forecaster) skipped(w *Window, job *v1beta1.UpgradeJob, at time.Time) string {
	by, err := maintenance.Skips(f.Suspensions, job, at)
	switch {
	case err != nil:
		return fmt.Sprintf("does not start before this is corrected: %v", err)
	case by == nil:
		return ""
	}
	return "is skipped: " + f.suspended(w, by, JobSkipped)
}

// suspended records the window that holds, and says so.
func (f *forecaster) suspended(w *Window, by *v1beta1.UpgradeSuspensionWindow, what string) string {
	w.SuspendedBy = &Suspension{Kind: "window", Name: by.Name, Until: by.Spec.End, Reason: by.Spec.Reason, What: what}
	text := fmt.Sprintf("suspended by UpgradeSuspensionWindow %s until %s", by.Name, w.Local(by.Spec.End))
	if by.Spec.Reason != "" {
		text += ": " + by.Spec.Reason
	}
	return text
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
