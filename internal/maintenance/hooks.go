package maintenance

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"refit.dev/refit/api/managedupgrade/v1beta1"
)

// follow records what became of the runs of hooks, and lets those go whose result is on record.
func (d *decider) follow() {
	for _, r := range d.Runs {
		t := d.tracker(r.Event, r.TrackingKey, r.Hook)
		if t == nil {
			d.job.Status.HookTracker = append(d.job.Status.HookTracker, v1beta1.HookTracker{HookEvent: r.Event, TrackingKey: r.TrackingKey, UpgradeJobHook: r.Hook})
			t = &d.job.Status.HookTracker[len(d.job.Status.HookTracker)-1]
		}
		if t.Status == v1beta1.HookComplete || t.Status == v1beta1.HookFailed {
			if r.Held && recorded(d.Job, t) {
				d.act(Action{Kind: FreeRun, Run: r.Name})
			}
			continue
		}
		t.Status, t.Message = v1beta1.HookActive, ""
		if r.Ended {
			t.Status, t.Message = v1beta1.HookComplete, r.Message
			if r.Failed {
				t.Status = v1beta1.HookFailed
			}
			d.at(d.Now)
		}
	}
	for i := range d.job.Status.HookTracker {
		t := &d.job.Status.HookTracker[i]
		gone := !slices.ContainsFunc(d.Runs, func(r Run) bool {
			return r.Event == t.HookEvent && r.TrackingKey == t.TrackingKey && r.Hook == t.UpgradeJobHook
		})
		if t.Status == v1beta1.HookActive && gone {
			t.Status, t.Message = v1beta1.HookFailed, "its Job was deleted before it ended; it is not run again"
		}
	}
}

// recorded says whether a result is in the status as it was read, and so on disk.
func recorded(j *v1beta1.UpgradeJob, t *v1beta1.HookTracker) bool {
	return slices.ContainsFunc(j.Status.HookTracker, func(have v1beta1.HookTracker) bool {
		return have.HookEvent == t.HookEvent && have.TrackingKey == t.TrackingKey && have.UpgradeJobHook == t.UpgradeJobHook && have.Status == t.Status
	})
}

func (d *decider) tracker(e v1beta1.HookEvent, key, hook string) *v1beta1.HookTracker {
	for i := range d.job.Status.HookTracker {
		t := &d.job.Status.HookTracker[i]
		if t.HookEvent == e && t.TrackingKey == key && t.UpgradeJobHook == hook {
			return t
		}
	}
	return nil
}

// matches says whether a hook is for the job. A hook that is newer than the job's end is not.
func (d *decider) matches(h *v1beta1.UpgradeJobHook) bool {
	if h.Namespace != d.Job.Namespace || h.DeletionTimestamp != nil {
		return false
	}
	if end := d.Job.Outcome(); end != nil && h.CreationTimestamp.After(end.LastTransitionTime.Time) {
		return false
	}
	selector, err := metav1.LabelSelectorAsSelector(&h.Spec.Selector)
	return err == nil && selector.Matches(labels.Set(d.Job.Labels))
}

// claim takes the hooks with run: Next that nobody has, for all events of this job.
func (d *decider) claim() {
	for i := range d.Hooks {
		if h := &d.Hooks[i]; h.Once() && h.Status.ClaimedBy == nil && d.matches(h) {
			d.act(Action{Kind: Claim, Hook: h})
		}
	}
}

// disruptive says that some hook of the job is.
func (d *decider) disruptive() bool {
	return slices.ContainsFunc(d.Hooks, func(h v1beta1.UpgradeJobHook) bool {
		return h.Spec.Disruptive && d.matches(&h) && (d.ours(&h) || h.Status.ClaimedBy == nil)
	})
}

// ours says whether a hook may run for the job: one with run: Next only once it is claimed.
func (d *decider) ours(h *v1beta1.UpgradeJobHook) bool {
	return !h.Once() || h.Status.ClaimedBy != nil && h.Status.ClaimedBy.UID == d.Job.UID
}

// hooks runs what is to run at an event, all at once, and says whether all has ended. A failure of a hook with failurePolicy: Abort
// fails a job that has not ended.
func (d *decider) hooks(e v1beta1.HookEvent, key string) bool {
	var running []string
	for i := range d.Hooks {
		h := &d.Hooks[i]
		if !h.RunsOn(e) || !d.matches(h) {
			continue
		}
		t := d.tracker(e, key, h.Name)
		switch {
		case t != nil && t.Status == v1beta1.HookFailed && h.Aborts() && !d.job.Finished():
			return d.fail(v1beta1.ReasonHookFailed, "Hook %s failed at %s%s", h.Name, moment(e, key), because(t.Message))
		case t != nil:
		case h.Once() && h.Status.ClaimedBy == nil && !d.Job.Finished():
			running = append(running, h.Name) // it is being claimed
		case d.ours(h):
			d.act(Action{Kind: RunHook, Hook: h, Event: e, TrackingKey: key, Disruptive: d.disruptive()})
			running = append(running, h.Name)
		}
	}
	for _, t := range d.job.Status.HookTracker {
		if t.HookEvent == e && t.TrackingKey == key && t.Status == v1beta1.HookActive {
			running = append(running, t.UpgradeJobHook)
		}
	}
	if len(running) == 0 {
		return true
	}
	slices.Sort(running)
	return d.watch("hook %s runs at %s", strings.Join(slices.Compact(running), ", "), moment(e, key))
}

func moment(e v1beta1.HookEvent, key string) string {
	if key == "" {
		return string(e)
	}
	return string(e) + " of " + key
}
