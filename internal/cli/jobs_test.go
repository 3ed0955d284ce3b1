package cli

import (
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	mcfgv1 "github.com/openshift/api/machineconfiguration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"refit.dev/refit/api/managedupgrade/v1beta1"
	"refit.dev/refit/internal/maintenance"
)

var jobStart = time.Date(2026, time.December, 1, 21, 0, 0, 0, time.UTC)

func jobWith(conditions ...metav1.Condition) *v1beta1.UpgradeJob {
	j := &v1beta1.UpgradeJob{ObjectMeta: metav1.ObjectMeta{Name: "weekly-1", Namespace: "m"}}
	j.Spec.StartAfter, j.Spec.StartBefore = metav1.NewTime(jobStart), metav1.NewTime(jobStart.Add(time.Hour))
	j.Status.Conditions = conditions
	return j
}

func condition(kind, reason string, after time.Duration) metav1.Condition {
	return metav1.Condition{Type: kind, Status: metav1.ConditionTrue, Reason: reason, Message: "it says", LastTransitionTime: metav1.NewTime(jobStart.Add(after))}
}

func started() metav1.Condition {
	return condition(v1beta1.ConditionStarted, v1beta1.ReasonStarted, time.Minute)
}

func TestTheTimeOfAJobIsToldByWhereItStands(t *testing.T) {
	for want, c := range map[string]struct {
		job *v1beta1.UpgradeJob
		now time.Duration
	}{
		"in 3h00m":   {jobWith(), -3 * time.Hour},
		"due":        {jobWith(), time.Minute},
		"for 9m00s":  {jobWith(started()), 10 * time.Minute},
		"took 1h01m": {jobWith(started(), condition(v1beta1.ConditionSucceeded, v1beta1.ReasonSucceeded, 62*time.Minute)), 5 * time.Hour},
		"":           {jobWith(condition(v1beta1.ConditionFailed, v1beta1.ReasonExpired, time.Hour)), 5 * time.Hour},
	} {
		NewWithT(t).Expect(jobTime(c.job, jobStart.Add(c.now))).To(Equal(want))
	}
}

func TestRunsOfHooksAreCounted(t *testing.T) {
	g := NewWithT(t)
	g.Expect(hookText(nil)).To(BeEmpty())
	runs := []v1beta1.HookTracker{{Status: v1beta1.HookComplete}, {Status: v1beta1.HookFailed}, {Status: v1beta1.HookComplete}, {Status: v1beta1.HookActive}}
	g.Expect(hookText(runs)).To(Equal("2/4 done, 1 failed, 1 active"))
}

func TestEveryEndOfAJobIsPutIntoWordsWithAdvice(t *testing.T) {
	for _, reason := range []string{v1beta1.ReasonExpired, v1beta1.ReasonTimedOut, v1beta1.ReasonUnpausingPoolsExpired, v1beta1.ReasonPreHealthCheckFailed,
		v1beta1.ReasonPostHealthCheckFailed, v1beta1.ReasonUpgradeWithdrawn, v1beta1.ReasonHookFailed, v1beta1.ReasonUpgradeFailed} {
		g := NewWithT(t)
		s := &jobStory{job: jobWith(started(), condition(v1beta1.ConditionFailed, reason, time.Hour)), zone: time.UTC, now: jobStart.Add(2 * time.Hour)}
		lines := s.lines()
		g.Expect(lines[0]).To(And(HavePrefix("UpgradeJob m/weekly-1 failed: "), HaveSuffix("("+reason+").")))
		g.Expect(lines).To(ContainElement("Next:"), reason)
	}
}

func TestWhereAJobStandsIsPutIntoWords(t *testing.T) {
	for want, c := range map[string]struct {
		job *v1beta1.UpgradeJob
		now time.Duration
	}{
		"starts in 30m (pending)":              {jobWith(), -30 * time.Minute},
		"could start, and has not yet":         {jobWith(), time.Minute},
		"has not started, and its window":      {jobWith(), 2 * time.Hour},
		"is under way (active)":                {jobWith(started()), time.Hour},
		"waits for delayed machine config":     {jobWith(started(), condition(v1beta1.ConditionPaused, v1beta1.ReasonDelaySet, time.Hour)), time.Hour},
		"succeeded":                            {jobWith(condition(v1beta1.ConditionSucceeded, v1beta1.ReasonSucceeded, time.Hour)), time.Hour},
		"was skipped: an UpgradeSuspensionWin": {jobWith(condition(v1beta1.ConditionSucceeded, v1beta1.ReasonSkipped, time.Hour)), time.Hour},
		"failed (SomethingNew)":                {jobWith(condition(v1beta1.ConditionFailed, "SomethingNew", time.Hour)), time.Hour},
	} {
		s := &jobStory{job: c.job, now: jobStart.Add(c.now)}
		NewWithT(t).Expect(s.headline()).To(ContainSubstring(want))
	}
}

func TestPausedPoolsTellWhoPausedThem(t *testing.T) {
	s := &jobStory{job: jobWith()}
	pool := func(paused bool, annotation, by string) *mcfgv1.MachineConfigPool {
		p := &mcfgv1.MachineConfigPool{ObjectMeta: metav1.ObjectMeta{Name: "worker", Annotations: map[string]string{annotation: by}}}
		p.Spec.Paused = paused
		return p
	}
	for want, p := range map[string]*mcfgv1.MachineConfigPool{
		"worker is paused by this job":                      pool(true, v1beta1.AnnotationPausedBy, "m/weekly-1"),
		"worker is paused by UpgradeJob m/other":            pool(true, v1beta1.AnnotationPausedBy, "m/other"),
		"worker is paused because this job failed; `oc":     pool(true, v1beta1.AnnotationPausedOnFailure, "m/weekly-1"),
		"worker is paused because UpgradeJob m/other fail":  pool(true, v1beta1.AnnotationPausedOnFailure, "m/other"),
		"worker is paused by a person, and stays so; `oc p": pool(true, "", ""),
	} {
		NewWithT(t).Expect(s.poolText(p)).To(HavePrefix(want))
	}
	NewWithT(t).Expect(s.poolText(pool(false, "", ""))).To(BeEmpty())
}

func TestTheHolderOfTheLockIsTold(t *testing.T) {
	for want, seen := range map[string]*maintenance.Target{
		"":                                nil,
		"nobody holds it":                 {},
		"this job holds it":               {HeldBy: "m/weekly-1"},
		"has not ended: see `refit jobs ": {HeldBy: "m/other"},
		"but has ended: the next job":     {HeldBy: "m/other", HolderEnded: true},
	} {
		text := (&jobStory{job: jobWith(), target: seen}).lockText()
		NewWithT(t).Expect(text).To(ContainSubstring(want))
		NewWithT(t).Expect(text == "").To(Equal(seen == nil))
	}
	NewWithT(t).Expect((&jobStory{job: jobWith(), target: &maintenance.Target{Problem: "away"}}).lockText()).To(BeEmpty(), "it was not seen")
}

func TestWhatOpenShiftSaysIsToldAndGoneOnWith(t *testing.T) {
	g := NewWithT(t)
	j := jobWith(started(), condition(v1beta1.ConditionFailed, v1beta1.ReasonTimedOut, time.Hour))
	j.Status.HookTracker = []v1beta1.HookTracker{{HookEvent: v1beta1.EventMachineConfigPoolUnpause, TrackingKey: "worker", UpgradeJobHook: "tell", Status: v1beta1.HookFailed}}
	s := &jobStory{job: j, zone: time.UTC, now: jobStart, runs: map[string]bool{},
		target: &maintenance.Target{Kind: v1beta1.TargetOpenShift, Progress: "Working towards 4.18.3"}}
	text := strings.Join(s.lines(), "\n")
	g.Expect(text).To(ContainSubstring("Target:     OpenShift: Working towards 4.18.3"))
	g.Expect(text).To(ContainSubstring("oc get clusterversion"))
	g.Expect(text).To(MatchRegexp(`MachineConfigPoolUnpause +worker +tell +failed +weekly-1-tell-machineconfigpoolunpause-worker \(deleted\)`))
}
