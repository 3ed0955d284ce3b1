package maintenance

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"refit.dev/refit/api/managedupgrade/v1beta1"
)

func (w *world) outcome(g *WithT) (string, string) {
	end := w.job.Outcome()
	g.Expect(end).NotTo(BeNil(), "%s: %+v", w.job.Status.Waiting, w.job.Status.Conditions)
	return end.Type, end.Reason
}

func delayed(min, max time.Duration) []v1beta1.UpgradeJobMachineConfigPoolSpec {
	return []v1beta1.UpgradeJobMachineConfigPoolSpec{{MatchLabels: &v1beta1.PoolSelector{Labels: map[string]string{"name": "night"}},
		DelayUpgrade: v1beta1.DelayUpgrade{DelayMin: duration(min), DelayMax: duration(max)}}}
}

func TestAnUpgradeFromItsStartToItsEnd(t *testing.T) {
	g := NewWithT(t)
	w := newWorld()
	w.now = begin.Add(-time.Hour)
	d := w.settle()
	g.Expect(w.job.Status.Phase).To(Equal(v1beta1.JobPending))
	g.Expect(d.LookAgain).To(Equal(time.Hour), "nothing but the clock begins it")
	w.now = begin
	w.settle()
	g.Expect(w.job.Is(v1beta1.ConditionPreHealthCheckDone)).To(BeTrue())
	g.Expect(w.installs).To(Equal(1))
	g.Expect(w.target.HeldBy).To(Equal(me))
	w.finishInstall()
	w.settle()
	kind, reason := w.outcome(g)
	g.Expect([]string{kind, reason}).To(Equal([]string{"Succeeded", "Succeeded"}))
	g.Expect(w.target.HeldBy).To(BeEmpty())
	g.Expect(w.job.Finalizers).To(BeEmpty())
	g.Expect(w.job.Status.UpgradeBefore.Time).To(Equal(begin.Add(time.Hour)))
}

func TestHowJobsEnd(t *testing.T) {
	for _, tt := range []struct {
		name, kind, reason string
		play               func(w *world)
	}{
		{"one that could not start in time", "Failed", "Expired", func(w *world) { w.now = begin.Add(time.Hour + time.Second) }},
		{"one whose Create hook hangs", "Failed", "Expired", func(w *world) {
			w.addHook("h", nil, v1beta1.EventCreate)
			w.now = begin.Add(w.settle().LookAgain)
			w.pass(2 * time.Hour)
		}},
		{"one whose Start hook hangs", "Failed", "TimedOut", func(w *world) { w.addHook("h", nil, v1beta1.EventStart); w.pass(3 * time.Hour) }},
		{"one whose upgrade hangs", "Failed", "TimedOut", func(w *world) { w.pass(3 * time.Hour) }},
		{"one whose target cannot be seen", "Failed", "TimedOut", func(w *world) { w.target.Problem = "no answer"; w.pass(3 * time.Hour); w.target.Problem = "" }},
		{"one that waits for another job", "Failed", "TimedOut", func(w *world) { w.target.HeldBy = "ops/other"; w.pass(3 * time.Hour) }},
		{"one that takes over from a job that ended", "Succeeded", "Succeeded", func(w *world) {
			w.target.HeldBy, w.target.HolderEnded = "ops/other", true
			w.settle()
			w.finishInstall()
		}},
		{"one whose cluster is sick before", "Failed", "PreHealthCheckFailed", func(w *world) { w.sick = "alert X"; w.pass(time.Hour) }},
		{"one whose cluster is sick after", "Failed", "PostHealthCheckFailed", func(w *world) {
			w.settle()
			w.finishInstall()
			w.sick = "alert X"
			w.pass(time.Hour)
		}},
		{"one whose cluster becomes healthy in time", "Succeeded", "Succeeded", func(w *world) {
			w.sick = "alert X"
			w.pass(20 * time.Minute)
			w.sick = ""
			w.pass(time.Minute)
			w.finishInstall()
		}},
		{"one whose version was withdrawn", "Failed", "UpgradeWithdrawn", func(w *world) { w.target.Available = nil }},
		{"one that does not care whether its version is offered", "Succeeded", "Succeeded", func(w *world) {
			w.target.Available = nil
			no := false
			w.job.Spec.DesiredVersionCheckAvailability = &no
			w.settle()
			w.finishInstall()
		}},
		{"one without a version", "Succeeded", "Succeeded", func(w *world) { w.job.Spec.DesiredVersion = nil }},
		{"one whose version runs already", "Succeeded", "Succeeded", func(w *world) { w.target.Completed = true }},
		{"one whose upgrade failed", "Failed", "UpgradeFailed", func(w *world) { w.settle(); w.target.Failed = "KubernetesUpgrade x failed" }},
		{"one that a suspension window holds", "Succeeded", "Skipped", func(w *world) { w.suspend(begin, begin) }},
		{"one that started before the suspension", "Succeeded", "Succeeded", func(w *world) {
			w.settle()
			w.suspend(begin.Add(-time.Hour), begin.Add(time.Hour))
			w.finishInstall()
		}},
		{"one beside a suspension of others", "Succeeded", "Succeeded", func(w *world) {
			w.suspend(begin, begin)
			w.windows[0].Spec.JobSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "y"}}
			w.settle()
			w.finishInstall()
		}},
		{"one whose hook failed, which does not matter", "Succeeded", "Succeeded", func(w *world) {
			w.addHook("h", nil, v1beta1.EventStart)
			w.settle()
			w.endRuns(true)
			w.settle()
			w.finishInstall()
		}},
		{"one whose hook failed, which matters", "Failed", "HookFailed", func(w *world) {
			w.addHook("h", func(h *v1beta1.UpgradeJobHook) { h.Spec.FailurePolicy = v1beta1.FailureAbort }, v1beta1.EventStart)
			w.settle()
			w.endRuns(true)
		}},
		{"one whose pool could not be let go in time", "Failed", "UnpausingPoolsExpired", func(w *world) {
			w.job.Spec.Config.MachineConfigPools = delayed(10*time.Minute, 20*time.Minute)
			w.addHook("h", nil, v1beta1.EventMachineConfigPoolUnpause)
			w.settle()
			w.finishInstall()
			w.pass(100 * time.Minute)
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := NewWithT(t)
			w := newWorld()
			tt.play(w)
			w.settle()
			kind, reason := w.outcome(g)
			g.Expect([]string{kind, reason}).To(Equal([]string{tt.kind, tt.reason}), "%+v", w.job.Outcome())
			g.Expect(w.target.HeldBy).NotTo(Equal(me), "the lock is given back")
			g.Expect(w.pool("night").PausedBy).To(BeEmpty(), "pools are given back")
			g.Expect(w.target.Driven).To(BeFalse(), "nothing goes on outside the window")
		})
	}
}

// pass lets time go by, looking only when a decision asked for it.
func (w *world) pass(d time.Duration) {
	for until := w.now.Add(d); ; {
		again := w.look(-1).LookAgain
		if again == 0 || w.now.Add(again).After(until) {
			w.now = until
			return
		}
		w.now = w.now.Add(again)
	}
}

func (w *world) suspend(start, end time.Time) {
	w.windows = append(w.windows, v1beta1.UpgradeSuspensionWindow{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "freeze"},
		Spec: v1beta1.UpgradeSuspensionWindowSpec{Start: metav1.NewTime(start), End: metav1.NewTime(end), JobSelector: &metav1.LabelSelector{}}})
}

func TestDelayedPoolsWaitForTheirTimeAndTheirHooks(t *testing.T) {
	g := NewWithT(t)
	w := newWorld()
	w.job.Spec.Config.MachineConfigPools = delayed(time.Hour, 2*time.Hour)
	w.addHook("h", nil, v1beta1.EventMachineConfigPoolUnpause)
	w.settle()
	g.Expect(w.pool("night").PausedBy).To(Equal(me))
	g.Expect(w.pool("worker").Paused).To(BeFalse())
	g.Expect(w.job.Is(v1beta1.ConditionMachineConfigPoolsPaused)).To(BeTrue())
	w.finishInstall()
	d := w.settle()
	g.Expect(w.job.Status.Phase).To(Equal(v1beta1.JobPaused))
	g.Expect(d.LookAgain).To(Equal(time.Hour))
	w.now = begin.Add(time.Hour)
	w.settle()
	g.Expect(w.starts).To(HaveKey("h/MachineConfigPoolUnpause/night"))
	g.Expect(w.pool("night").Paused).To(BeTrue(), "its hook runs first")
	w.endRuns(false)
	w.settle()
	g.Expect(w.pool("night").Paused).To(BeFalse())
	g.Expect(w.job.Finished()).To(BeFalse(), "its machines are not updated yet")
	w.pool("night").Updated = true
	w.now = w.now.Add(poll)
	w.settle()
	kind, _ := w.outcome(g)
	g.Expect(kind).To(Equal("Succeeded"))
	g.Expect(w.job.Is(v1beta1.ConditionPaused)).To(BeFalse())
	g.Expect(w.job.Is(v1beta1.ConditionMachineConfigPoolsPaused)).To(BeFalse())
}

func TestAPoolThatAPersonPausedStaysPaused(t *testing.T) {
	g := NewWithT(t)
	w := newWorld()
	w.job.Spec.Config.MachineConfigPools = delayed(time.Minute, 2*time.Hour)
	w.pool("night").Paused = true
	w.settle()
	w.finishInstall()
	w.settle()
	kind, _ := w.outcome(g)
	g.Expect(kind).To(Equal("Succeeded"))
	g.Expect(w.pool("night").Paused).To(BeTrue())
}

func TestPoolsArePausedWhenTheJobFailsWhereThatIsAskedFor(t *testing.T) {
	g := NewWithT(t)
	w := newWorld()
	w.job.Spec.Config.MachineConfigPools = delayed(time.Hour, 2*time.Hour)
	w.job.Spec.Config.PauseMachineConfigPoolsOnFailure = &v1beta1.PauseMachineConfigPoolsOnFailure{Enabled: true, Selector: &metav1.LabelSelector{}}
	w.settle()
	w.target.Failed = "broken"
	w.settle()
	for _, p := range w.target.Pools {
		g.Expect(p.Paused).To(BeTrue(), p.Name)
		g.Expect(p.PausedBy).To(BeEmpty(), p.Name)
	}
	g.Expect(w.target.HeldBy).To(BeEmpty())
	w.pool("worker").Paused = false
	w.settle()
	g.Expect(w.pool("worker").Paused).To(BeFalse(), "a person has unpaused it")
}

func TestADeletedJobGivesEverythingBack(t *testing.T) {
	g := NewWithT(t)
	w := newWorld()
	w.job.Spec.Config.MachineConfigPools = delayed(time.Hour, 2*time.Hour)
	w.addHook("h", nil, v1beta1.EventUpgradeComplete)
	w.settle()
	w.target.Pools[0].Updated = true
	now := metav1.NewTime(w.now)
	w.job.DeletionTimestamp = &now
	w.runs = append(w.runs, Run{Name: "r", Hook: "h", Event: v1beta1.EventStart, Held: true})
	w.settle()
	g.Expect(w.gone).To(BeTrue())
	g.Expect(w.target.HeldBy).To(BeEmpty())
	g.Expect(w.target.Driven).To(BeFalse())
	g.Expect(w.pool("night").Paused).To(BeFalse())
	g.Expect(w.runs[0].Held).To(BeFalse())
}

func TestHooksRunForTheRightJobsAndEvents(t *testing.T) {
	g := NewWithT(t)
	w := newWorld()
	w.addHook("next", func(h *v1beta1.UpgradeJobHook) { h.Spec.Run = v1beta1.RunNext }, v1beta1.EventStart, v1beta1.EventSuccess)
	w.addHook("taken", func(h *v1beta1.UpgradeJobHook) {
		h.Spec.Run = v1beta1.RunNext
		h.Status.ClaimedBy = &v1beta1.ClaimReference{UID: "another"}
	}, v1beta1.EventStart)
	w.addHook("other", func(h *v1beta1.UpgradeJobHook) { h.Spec.Selector.MatchLabels = map[string]string{"app": "y"} }, v1beta1.EventStart)
	w.addHook("all", nil, v1beta1.EventCreate, v1beta1.EventFailure, v1beta1.EventFinish)
	for range 10 {
		w.settle()
		w.endRuns(false)
		if w.installs > 0 {
			w.finishInstall()
		}
	}
	g.Expect(w.starts).To(Equal(map[string]int{"next/Start/": 1, "next/Success/": 1, "all/Create/": 1, "all/Finish/": 1}))
	g.Expect(w.job.Finalizers).To(BeEmpty())
	w.addHook("late", func(h *v1beta1.UpgradeJobHook) { h.CreationTimestamp = metav1.NewTime(w.now.Add(time.Second)) }, v1beta1.EventFinish)
	w.settle()
	g.Expect(w.starts).NotTo(HaveKey("late/Finish/"))
}

func TestTwoDelayedPoolsWithOneHookRunItTwice(t *testing.T) {
	g := NewWithT(t)
	w := newWorld()
	w.job.Spec.Config.MachineConfigPools = []v1beta1.UpgradeJobMachineConfigPoolSpec{{MatchLabels: &v1beta1.PoolSelector{}, DelayUpgrade: v1beta1.DelayUpgrade{StartAfter: duration(time.Minute)}}}
	w.addHook("h", nil, v1beta1.EventMachineConfigPoolUnpause)
	w.settle()
	w.finishInstall()
	w.now = begin.Add(time.Minute)
	w.settle()
	g.Expect(w.starts).To(HaveLen(3))
}

func TestAHookWhoseJobWasDeletedIsNotRunAgain(t *testing.T) {
	g := NewWithT(t)
	w := newWorld()
	w.addHook("h", nil, v1beta1.EventStart)
	w.settle()
	w.runs = nil
	w.settle()
	g.Expect(w.starts).To(Equal(map[string]int{"h/Start/": 1}))
	g.Expect(w.job.Status.HookTracker[0].Status).To(Equal(v1beta1.HookFailed))
	g.Expect(w.installs).To(Equal(1), "its policy is Ignore")
}
