package maintenance

import (
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"refit.dev/refit/api/managedupgrade/v1beta1"
)

// TestHistories plays jobs over random worlds, with managers that are killed between any two actions, and holds at every step to what must
// always be so. Only the clock and the decisions' own wish to look again move a job: its timeouts fire by themselves.
func TestHistories(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := randomWorld(t)
		personsPool := rapid.Bool().Draw(t, "a person paused the pool")
		w.pool("night").Paused = personsPool
		for range rapid.IntRange(5, 60).Draw(t, "steps") {
			before := w.job.DeepCopy()
			w.happen(t)
			// A manager is killed after any number of actions, and the status may be lost with it.
			n := rapid.IntRange(-1, 2).Draw(t, "actions done")
			lost := rapid.IntRange(0, 9).Draw(t, "status lost") == 0
			kept := w.job.Status.DeepCopy()
			d := w.look(n)
			w.check(t, before, d)
			if lost && len(d.Actions) == 0 {
				w.job.Status = *kept
			}
			if w.gone {
				break
			}
		}
		w.end(t)
		if personsPool && !w.pool("night").Paused {
			t.Fatal("a pool that a person paused was unpaused")
		}
	})
}

func randomWorld(t *rapid.T) *world {
	w := newWorld()
	w.job.Finalizers = nil
	w.now = begin.Add(time.Duration(rapid.IntRange(-90, 90).Draw(t, "begin")) * time.Minute)
	w.job.Spec.Config.MachineConfigPools = rapid.SampledFrom([][]v1beta1.UpgradeJobMachineConfigPoolSpec{nil, delayed(30*time.Minute, time.Hour), delayed(time.Minute, time.Minute)}).Draw(t, "delays")
	if rapid.Bool().Draw(t, "no version") {
		w.job.Spec.DesiredVersion = nil
	}
	all := []v1beta1.HookEvent{v1beta1.EventCreate, v1beta1.EventStart, v1beta1.EventUpgradeComplete, v1beta1.EventMachineConfigPoolUnpause,
		v1beta1.EventSuccess, v1beta1.EventFailure, v1beta1.EventFinish}
	for _, name := range []string{"a", "b"}[:rapid.IntRange(0, 2).Draw(t, "hooks")] {
		events := rapid.SliceOfNDistinct(rapid.SampledFrom(all), 1, 4, rapid.ID[v1beta1.HookEvent]).Draw(t, "events")
		w.addHook(name, func(h *v1beta1.UpgradeJobHook) {
			h.Spec.Run = rapid.SampledFrom([]v1beta1.HookRun{"", v1beta1.RunAll, v1beta1.RunNext}).Draw(t, "run")
			h.Spec.FailurePolicy = rapid.SampledFrom([]v1beta1.HookFailurePolicy{"", v1beta1.FailureAbort}).Draw(t, "policy")
		}, events...)
	}
	return w
}

// happen is something in the world.
func (w *world) happen(t *rapid.T) {
	switch rapid.SampledFrom([]string{"time", "time", "runs", "run fails", "installed", "sick", "healthy", "unseen", "seen", "other", "delete", "run deleted", "suspend", "pools"}).Draw(t, "happens") {
	case "time":
		w.now = w.now.Add(time.Duration(rapid.IntRange(1, 1800).Draw(t, "seconds")) * time.Second)
	case "runs":
		w.endRuns(false)
	case "run fails":
		w.endRuns(true)
	case "installed":
		if w.target.Requested {
			w.finishInstall()
		}
	case "sick":
		w.sick = "alert X"
	case "healthy":
		w.sick = ""
	case "unseen":
		w.target.Problem = "no answer"
	case "seen":
		w.target.Problem = ""
	case "other":
		switch w.target.HeldBy {
		case "":
			w.target.HeldBy = "ops/other"
		case "ops/other":
			w.target.HeldBy = ""
		}
	case "delete":
		if rapid.IntRange(0, 9).Draw(t, "really") == 0 && w.job.Finalizers != nil && w.job.DeletionTimestamp == nil {
			now := metav1.NewTime(w.now)
			w.job.DeletionTimestamp = &now
		}
	case "run deleted": // a Job that our finalizer does not keep
		w.runs = slices.DeleteFunc(w.runs, func(r Run) bool { return !r.Held })
	case "suspend":
		w.suspend(w.now.Add(-time.Minute), w.now.Add(time.Minute))
	case "pools":
		for i := range w.target.Pools {
			w.target.Pools[i].Updated = w.target.Completed && !w.target.Pools[i].Paused
		}
	}
}

// check is what holds after every step.
func (w *world) check(t *rapid.T, before *v1beta1.UpgradeJob, d Decision) {
	for name, times := range w.starts {
		if times > 1 {
			t.Fatalf("hook %s ran %d times", name, times)
		}
	}
	if w.job.Is(v1beta1.ConditionSucceeded) && w.job.Is(v1beta1.ConditionFailed) {
		t.Fatal("succeeded and failed")
	}
	if before.Finished() && (!w.job.Finished() || before.Outcome().Reason != w.job.Outcome().Reason) {
		t.Fatalf("%s became %+v", before.Outcome().Reason, w.job.Outcome())
	}
	for _, a := range d.Actions {
		w.checkAction(t, before, a)
	}
}

func (w *world) checkAction(t *rapid.T, before *v1beta1.UpgradeJob, a Action) {
	switch a.Kind {
	case Install:
		if !w.job.Is(v1beta1.ConditionStarted) || !w.job.Is(v1beta1.ConditionPreHealthCheckDone) || w.target.HeldBy != me {
			t.Fatalf("installed without a start, health or the lock: %+v", w.job.Status)
		}
		start := w.job.Status.Conditions[slices.IndexFunc(w.job.Status.Conditions, func(c metav1.Condition) bool { return c.Type == v1beta1.ConditionStarted })]
		if s := start.LastTransitionTime.Time; s.Before(begin) || s.After(begin.Add(time.Hour)) {
			t.Fatalf("started outside its window, at %s", s)
		}
		if w.now.After(start.LastTransitionTime.Add(2 * time.Hour)) {
			t.Fatal("installed after the timeout")
		}
	case Lock, PausePool, RunHook, Claim:
		if before.DeletionTimestamp != nil {
			t.Fatalf("%s for a job that is being deleted", a.Kind)
		}
		if a.Kind != RunHook && before.Finished() {
			t.Fatalf("%s for a job that has ended", a.Kind)
		}
	case LetGo:
		if w.target.HeldBy == me || w.pool("night").PausedBy != "" || w.target.Driven {
			t.Fatal("let go with something taken")
		}
	}
}

// end lets time pass in a quiet world: every job ends, and has given back what it took.
func (w *world) end(t *rapid.T) {
	w.target.Problem = ""
	if w.target.HeldBy == "ops/other" {
		w.target.HeldBy = ""
	}
	for range 3000 {
		before := w.job.DeepCopy()
		d := w.look(-1)
		w.check(t, before, d)
		if w.gone || d.LookAgain == 0 {
			break
		}
		w.now = w.now.Add(d.LookAgain)
		if w.now.After(begin.Add(3 * time.Hour)) {
			w.endRuns(false)
		}
		if w.now.After(begin.Add(40 * time.Hour)) {
			break
		}
	}
	var left []string
	if !w.gone && !w.job.Finished() {
		left = append(left, "the job has not ended: "+w.job.Status.Waiting)
	}
	if w.target.HeldBy == me {
		left = append(left, "the lock")
	}
	if w.pool("night").PausedBy != "" {
		left = append(left, "a pool")
	}
	if w.target.Driven {
		left = append(left, "an upgrade that goes on")
	}
	if len(w.job.Finalizers) > 0 {
		left = append(left, "the finalizer")
	}
	for _, r := range w.runs {
		if r.Held {
			left = append(left, "Job "+r.Name)
		}
	}
	if len(left) > 0 {
		t.Fatalf("left at the end: %s; %+v", strings.Join(left, ", "), w.job.Status)
	}
}
