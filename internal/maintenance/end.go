package maintenance

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"refit.dev/refit/api/managedupgrade/v1beta1"
)

func (d *decider) held() bool { return slices.Contains(d.Job.Finalizers, v1beta1.FinalizerJob) }

// finished gives back what the job took, and runs the hooks of its outcome.
func (d *decider) finished() {
	if !d.held() {
		return
	}
	free := d.release()
	events := []v1beta1.HookEvent{v1beta1.EventSuccess, v1beta1.EventFinish}
	if d.job.Is(v1beta1.ConditionFailed) {
		events[0] = v1beta1.EventFailure
	}
	until := d.Job.Outcome().LastTransitionTime.Add(outcomePatience)
	done := true
	for _, e := range events {
		done = d.hooks(e, "") && done
	}
	if d.follows() {
		d.at(until)
		if !d.Now.Before(until) {
			d.giveUp()
			d.at(d.Now)
			done = true
		}
	}
	if free && done && !d.holdsRuns() {
		d.act(Action{Kind: LetGo})
	}
}

// follows says whether the end of a hook's run is awaited, of whichever event.
func (d *decider) follows() bool {
	return slices.ContainsFunc(d.job.Status.HookTracker, func(t v1beta1.HookTracker) bool { return t.Status == v1beta1.HookActive })
}

// giveUp ends the following of hooks that have not ended long after their job.
func (d *decider) giveUp() {
	for i := range d.job.Status.HookTracker {
		if t := &d.job.Status.HookTracker[i]; t.Status == v1beta1.HookActive {
			t.Status, t.Message = v1beta1.HookFailed, "it had not ended "+outcomePatience.String()+" after the job; set activeDeadlineSeconds in the hook's template"
		}
	}
}

// deleted gives back what the job took, and then lets it go. Hooks that run are deleted with it, as it owns their Jobs.
func (d *decider) deleted() {
	if !d.held() {
		return
	}
	free := d.release()
	d.actions = slices.DeleteFunc(d.actions, func(a Action) bool { return a.Kind == FreeRun })
	for _, r := range d.Runs {
		if r.Held {
			d.act(Action{Kind: FreeRun, Run: r.Name})
		}
	}
	if free && !d.holdsRuns() {
		d.act(Action{Kind: LetGo})
	}
}

func (d *decider) holdsRuns() bool {
	return slices.ContainsFunc(d.Runs, func(r Run) bool { return r.Held })
}

// release gives back the pools, the upgrade and the lock, in this order, and says whether nothing is left. A job that never started has
// taken nothing.
func (d *decider) release() bool {
	t := d.Target
	if !d.Job.Is(v1beta1.ConditionStarted) {
		return true
	}
	if t.Problem != "" {
		return d.watch("what the job took is given back once the cluster can be seen: %s", t.Problem)
	}
	free := true
	for _, p := range t.Pools {
		switch stop, mine := d.stops(p), p.Paused && p.PausedBy == d.name(); {
		case stop && (!p.Paused || mine):
			d.act(Action{Kind: StopPool, Pool: p.Name})
			free = false
		case mine && d.early(p):
			free = false
		case mine:
			d.act(Action{Kind: UnpausePool, Pool: p.Name})
			free = false
		}
	}
	if t.Driven && !t.Completed {
		d.act(Action{Kind: Halt})
		free = false
	}
	if free && d.condition(v1beta1.ConditionMachineConfigPoolsPaused) != nil && d.job.Is(v1beta1.ConditionMachineConfigPoolsPaused) {
		d.set(v1beta1.ConditionMachineConfigPoolsPaused, metav1.ConditionFalse, v1beta1.ReasonCompleted, "No machine config pool is paused for the job any more")
	}
	if free && t.HeldBy == d.name() {
		d.act(Action{Kind: Unlock})
		return false
	}
	return free
}

// early says that a pool is not to be let go yet: once the new version is on its way, its nodes would restart at once, at a time that they
// were kept from. A person who deletes the job wants it now.
func (d *decider) early(p Pool) bool {
	due, _, err := d.delay(p)
	if err != nil || d.Job.DeletionTimestamp != nil || d.condition(v1beta1.ConditionUpgradeCompleted) == nil || !d.Now.Before(due) {
		return false
	}
	d.at(due)
	d.wait("machine config pool %s is let go at %s", p.Name, local(due))
	return true
}

// stops says whether a pool is to be paused because the job failed. That is done once, while the job still holds its lock: a person who
// unpauses it afterwards is not contradicted.
func (d *decider) stops(p Pool) bool {
	on := d.job.Spec.Config.PauseMachineConfigPoolsOnFailure
	if on == nil || !on.Enabled || !d.job.Is(v1beta1.ConditionFailed) || d.Job.DeletionTimestamp != nil || d.Target.HeldBy != d.name() {
		return false
	}
	selector, err := metav1.LabelSelectorAsSelector(on.Selector)
	return err == nil && selector.Matches(labels.Set(p.Labels))
}
