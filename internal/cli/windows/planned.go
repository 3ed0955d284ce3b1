package windows

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"refit.dev/refit/api/managedupgrade/v1beta1"
	"refit.dev/refit/internal/maintenance"
	"refit.dev/refit/internal/schedule"
)

// planned tells of a window whose job does not exist, by what would be decided when it is to be created, or now where that is past.
func (f *forecaster) planned(w *Window, slot schedule.Slot) {
	if f.Now.After(slot.CreateBefore) {
		w.Action = "nothing: no job was created for it"
		return
	}
	now := later(slot.PinAt, f.Now)
	decision := maintenance.Schedule(f.observation(slot, now))
	scheduled := meta.FindStatusCondition(decision.Status.Conditions, v1beta1.ConditionScheduled)
	switch {
	case decision.Create != nil && decision.Create.Spec.StartAfter.Time.Equal(slot.At):
		f.upgrade(w, decision.Create)
	case scheduled == nil || scheduled.Reason == v1beta1.ReasonWaiting || decision.Create != nil:
		w.Action = "nothing: no job was created for it"
	case scheduled.Reason == v1beta1.ReasonSuspended:
		w.SuspendedBy = &Suspension{Kind: "config", Name: f.Config.Name, What: JobNotCreated}
		w.Action = "no job is created: suspended by spec.schedule.suspend"
	case scheduled.Reason == v1beta1.ReasonSuspendedWindow:
		by, err := maintenance.Suspends(f.Suspensions, f.Config, now)
		if err != nil || by == nil {
			w.Action = "no job is created before this is corrected: " + scheduled.Message
			return
		}
		w.Action = "no job is created: " + f.suspended(w, by, JobNotCreated)
	case scheduled.Reason == v1beta1.ReasonJobPending:
		w.Action = "no job is created: an earlier job has not ended when it would be"
	default:
		w.Action = "no job is created: " + scheduled.Message
	}
}

// upgrade tells of a window whose job would be created.
func (f *forecaster) upgrade(w *Window, job *v1beta1.UpgradeJob) {
	f.made = append(f.made, *job)
	w.Version, w.Action = job.Version(), "upgrade"
	switch {
	case f.VersionsSeen && w.Version == "":
		w.unpinned, w.Action = noVersion, "no upgrade"
	case !f.VersionsSeen && !f.Now.IsZero():
		w.unpinned = "unknown"
	}
	if skipped := f.skipped(w, job, w.Start.Time); skipped != "" {
		w.Action = "the job " + skipped
	}
}

// observation is what would be seen of the config at a time. What is to come is seen as if all had been dealt with until then.
func (f *forecaster) observation(slot schedule.Slot, now time.Time) maintenance.ConfigInput {
	in := maintenance.ConfigInput{Now: now, Config: f.Config.DeepCopy(), Jobs: f.Jobs, Windows: f.Suspensions, Available: f.Available}
	if !slot.PinAt.After(f.Now) {
		return in
	}
	in.Config.CreationTimestamp = metav1.NewTime(slot.At.Add(-time.Nanosecond))
	in.Config.Status.LastScheduledUpgrade = nil
	in.Jobs = nil
	for _, jobs := range [][]v1beta1.UpgradeJob{f.Jobs, f.made} {
		for i := range jobs {
			if jobs[i].Spec.StartAfter.After(now) {
				in.Jobs = append(in.Jobs, jobs[i])
			}
		}
	}
	return in
}

// clockChange tells of a start that a clock change has moved, or that comes twice on its day; empty otherwise.
func clockChange(spec schedule.Spec, plan *schedule.Schedule, at time.Time) string {
	local := at.In(plan.Location())
	start, end := local.ZoneBounds()
	if !end.IsZero() {
		again := local.Add(back(end))
		if back(end) > 0 && !again.Before(end) && again.Format(time.DateTime) == local.Format(time.DateTime) {
			return fmt.Sprintf("%s comes twice on this day: the window starts at the first", local.Format("15:04"))
		}
	}
	if !start.Equal(at) || back(start) >= 0 {
		return ""
	}
	// The same schedule on a clock that never changes says whether the time is the schedule's own.
	spec.Location = "UTC"
	steady, err := schedule.Parse(spec)
	if err != nil {
		return ""
	}
	shown := time.Date(local.Year(), local.Month(), local.Day(), local.Hour(), local.Minute(), local.Second(), 0, time.UTC)
	meant, ok := steady.Next(shown.Add(back(start) - time.Second))
	if !ok || !meant.Before(shown) {
		return ""
	}
	return fmt.Sprintf("%s does not exist on this day: the window starts when the clocks have gone forward", meant.Format("15:04"))
}

// back is by how much clocks go back at a change; negative where they go forward.
func back(change time.Time) time.Duration {
	_, before := change.Add(-time.Second).Zone()
	_, after := change.Zone()
	return time.Duration(before-after) * time.Second
}
