package maintenance

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"

	"refit.dev/refit/api/managedupgrade/v1beta1"
)

// Tuesday 1 December 2026, 22:00 in Zurich, is in week 49.
var slotAt = time.Date(2026, 12, 1, 21, 0, 0, 0, time.UTC)

func newTestConfig() *v1beta1.UpgradeConfig {
	return &v1beta1.UpgradeConfig{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "cluster-upgrade", UID: "uid-config", Labels: map[string]string{"team": "a"},
			CreationTimestamp: metav1.NewTime(slotAt.Add(-7 * 24 * time.Hour))},
		Spec: v1beta1.UpgradeConfigSpec{
			Schedule:         v1beta1.UpgradeConfigSchedule{Cron: "0 22 * * 2", ISOWeek: "@odd", Location: "Europe/Zurich"},
			PinVersionWindow: duration(4 * time.Hour),
			JobTemplate: v1beta1.UpgradeConfigJobTemplate{Metadata: v1beta1.TemplateMetadata{Labels: map[string]string{"upgrade-config": "cluster-upgrade"}},
				Spec: v1beta1.UpgradeConfigJobTemplateSpec{Config: v1beta1.UpgradeJobConfig{UpgradeTimeout: duration(2 * time.Hour)}}},
		},
	}
}

func releases(versions ...string) []configv1.Release {
	var out []configv1.Release
	for _, v := range versions {
		out = append(out, configv1.Release{Version: v, Image: "release:" + v})
	}
	return out
}

func scheduled(d ConfigDecision) *metav1.Condition {
	return meta.FindStatusCondition(d.Status.Conditions, v1beta1.ConditionScheduled)
}

func TestTheJobIsCreatedWhenTheVersionIsPinned(t *testing.T) {
	g := NewWithT(t)
	in := ConfigInput{Config: newTestConfig(), Now: slotAt.Add(-4*time.Hour - time.Minute), Available: releases("4.16.9", "4.16.10", "4.16.2", "none")}
	d := Schedule(in)
	g.Expect(d.Create).To(BeNil())
	g.Expect(d.LookAgain).To(Equal(time.Minute))
	g.Expect(d.Status.NextPossibleSchedules).To(HaveLen(10))
	g.Expect(d.Status.NextPossibleSchedules[0].Time.Time.Equal(slotAt)).To(BeTrue())
	g.Expect(scheduled(d).Message).To(ContainSubstring("Tue 2026-12-01 22:00 CET"))

	in.Now = slotAt.Add(-4 * time.Hour)
	d = Schedule(in)
	g.Expect(d.Create).NotTo(BeNil())
	g.Expect(d.Create.Name).To(MatchRegexp(`^cluster-upgrade-1796158800-[0-9a-f]{7}$`))
	g.Expect(d.Create.Spec.DesiredVersion.Version).To(Equal("4.16.10"), "the highest, by semantic version")
	g.Expect(d.Create.Spec.StartBefore.Sub(d.Create.Spec.StartAfter.Time)).To(Equal(time.Hour))
	g.Expect(d.Create.Labels).To(HaveKeyWithValue("upgrade-config", "cluster-upgrade"))
	g.Expect(metav1.IsControlledBy(d.Create, in.Config)).To(BeTrue())
	g.Expect(d.Status.LastScheduledUpgrade.Time.Equal(slotAt)).To(BeTrue())
	g.Expect(d.Status.NextPossibleSchedules[0].Time.Time.Equal(slotAt)).To(BeFalse(), "the next for which there is no job")

	g.Expect(Schedule(in).Create.Name).To(Equal(d.Create.Name), "however often it is asked")
	in.Available = releases("4.16.11")
	g.Expect(Schedule(in).Create.Name).NotTo(Equal(d.Create.Name))
	in.Available = nil
	g.Expect(Schedule(in).Create.Spec.DesiredVersion).To(BeNil())
}

func TestWhenNoJobIsCreated(t *testing.T) {
	job := func(start time.Time, ended string) v1beta1.UpgradeJob {
		j := v1beta1.UpgradeJob{ObjectMeta: metav1.ObjectMeta{Name: "j"}, Spec: v1beta1.UpgradeJobSpec{StartAfter: metav1.NewTime(start)}}
		if ended != "" {
			j.Status.Conditions = []metav1.Condition{{Type: ended, Status: metav1.ConditionTrue, Reason: ended}}
		}
		return j
	}
	window := v1beta1.UpgradeSuspensionWindow{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "freeze"},
		Spec: v1beta1.UpgradeSuspensionWindowSpec{Start: metav1.NewTime(slotAt.Add(-24 * time.Hour)), End: metav1.NewTime(slotAt.Add(24 * time.Hour)), Reason: "year end", ConfigSelector: &metav1.LabelSelector{}}}
	for _, tt := range []struct {
		name   string
		change func(in *ConfigInput)
		reason string
		last   bool
		says   string
	}{
		{"by its suspend", func(in *ConfigInput) { in.Config.Spec.Schedule.Suspend = true }, v1beta1.ReasonSuspended, true, "suspend"},
		{"by a window", func(in *ConfigInput) { in.Windows = []v1beta1.UpgradeSuspensionWindow{window} }, v1beta1.ReasonSuspendedWindow, true, "year end"},
		{"by a window whose selector is wrong", func(in *ConfigInput) {
			w := *window.DeepCopy()
			w.Spec.ConfigSelector.MatchExpressions = []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Like"}}
			in.Windows = []v1beta1.UpgradeSuspensionWindow{w}
		}, v1beta1.ReasonSuspendedWindow, false, "configSelector"},
		{"as its latest job runs", func(in *ConfigInput) { in.Jobs = []v1beta1.UpgradeJob{job(slotAt.Add(-72*time.Hour), "")} }, v1beta1.ReasonJobPending, false, "UpgradeJob j has not ended"},
		{"as its job is there", func(in *ConfigInput) { in.Jobs = []v1beta1.UpgradeJob{job(slotAt, "")} }, v1beta1.ReasonJobPending, true, "starts at"},
		{"as its job for the slot has failed already", func(in *ConfigInput) { in.Jobs = []v1beta1.UpgradeJob{job(slotAt, "Failed")} }, v1beta1.ReasonJobPending, true, "starts at"},
		{"as the versions are unknown", func(in *ConfigInput) { in.Problem = "no answer" }, v1beta1.ReasonVersionsUnknown, false, "no answer"},
		{"as it is too late", func(in *ConfigInput) { in.Now = slotAt.Add(-2 * time.Hour) }, v1beta1.ReasonWaiting, true, "2026-12-15"},
		{"as the schedule never fires", func(in *ConfigInput) { in.Config.Spec.Schedule.Cron = "0 0 30 2 *" }, v1beta1.ReasonInvalidSchedule, false, "spec.schedule.cron"},
		{"as it was dealt with", func(in *ConfigInput) { in.Config.Status.LastScheduledUpgrade = &metav1.Time{Time: slotAt} }, v1beta1.ReasonWaiting, true, "2026-12-15"},
		{"as the config is younger than the slot", func(in *ConfigInput) {
			in.Config.Spec.PinVersionWindow = nil
			in.Now = slotAt.Add(30 * time.Minute)
			in.Config.CreationTimestamp = metav1.NewTime(slotAt.Add(10 * time.Minute))
		}, v1beta1.ReasonWaiting, false, "2026-12-15"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := NewWithT(t)
			in := ConfigInput{Config: newTestConfig(), Now: slotAt.Add(-3 * time.Hour), Available: releases("4.16.3")}
			g.Expect(Schedule(in).Create).NotTo(BeNil(), "otherwise there would be one")
			tt.change(&in)
			d := Schedule(in)
			g.Expect(d.Create).To(BeNil())
			g.Expect(scheduled(d).Reason).To(Equal(tt.reason))
			g.Expect(scheduled(d).Message).To(ContainSubstring(tt.says))
			g.Expect(d.Status.LastScheduledUpgrade != nil && d.Status.LastScheduledUpgrade.Time.Equal(slotAt)).To(Equal(tt.last))
		})
	}
}

func TestAMissedWindowIsSkippedAndToldOfOnce(t *testing.T) {
	g := NewWithT(t)
	in := ConfigInput{Config: newTestConfig(), Now: slotAt.Add(time.Hour)}
	d := Schedule(in)
	g.Expect(d.Events).To(ContainElement(HaveField("Reason", v1beta1.ReasonWindowMissed)))
	in.Config.Status = d.Status
	g.Expect(Schedule(in).Events).To(BeEmpty())
}

func TestTheHistoryIsLimitedByOutcome(t *testing.T) {
	g := NewWithT(t)
	in := ConfigInput{Config: newTestConfig(), Now: slotAt.Add(-24 * time.Hour)}
	in.Config.Spec.SuccessfulJobsHistoryLimit, in.Config.Spec.FailedJobsHistoryLimit = ptr.To[int32](1), ptr.To[int32](0)
	for i, end := range []string{"Succeeded", "Failed", "Succeeded", "Failed", "Succeeded"} {
		in.Jobs = append(in.Jobs, v1beta1.UpgradeJob{ObjectMeta: metav1.ObjectMeta{Name: string(rune('a' + i))},
			Spec:   v1beta1.UpgradeJobSpec{StartAfter: metav1.NewTime(slotAt.Add(time.Duration(-100+i) * 24 * time.Hour))},
			Status: v1beta1.UpgradeJobStatus{Conditions: []metav1.Condition{{Type: end, Status: metav1.ConditionTrue}}}})
	}
	g.Expect(Schedule(in).Delete).To(ConsistOf("a", "c"))
}

// TestASlotHasAtMostOneJob plays a config over weeks with managers that are away for any time and die before they write the status.
func TestASlotHasAtMostOneJob(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		config := newTestConfig()
		config.Spec.Schedule = v1beta1.UpgradeConfigSchedule{Cron: rapid.SampledFrom([]string{"0 22 * * 2", "30 2 * * *", "*/30 * * * *"}).Draw(t, "cron"), Location: "Europe/Zurich"}
		config.Spec.PinVersionWindow = duration(rapid.SampledFrom([]time.Duration{0, time.Hour, 4 * time.Hour}).Draw(t, "pin"))
		in := ConfigInput{Config: config, Now: slotAt.Add(-24 * time.Hour), Available: releases("4.16.3")}
		config.CreationTimestamp = metav1.NewTime(in.Now)
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			d := Schedule(in)
			if d.Create != nil {
				checkSlot(t, in, d.Create)
				in.Jobs = append(in.Jobs, *d.Create)
			}
			if !rapid.Bool().Draw(t, "killed before the status") {
				config.Status = d.Status
			}
			if n := len(in.Jobs); n > 0 && rapid.Bool().Draw(t, "the job ends") && in.Now.After(in.Jobs[n-1].Spec.StartAfter.Time) {
				in.Jobs[n-1].Status.Conditions = []metav1.Condition{{Type: v1beta1.ConditionSucceeded, Status: metav1.ConditionTrue}}
			}
			again := d.LookAgain
			if again <= 0 {
				t.Fatal("it would never be looked at again")
			}
			if rapid.Bool().Draw(t, "away") {
				again += time.Duration(rapid.IntRange(0, 600).Draw(t, "minutes")) * time.Minute
			}
			in.Now = in.Now.Add(again)
		}
	})
}

func checkSlot(t *rapid.T, in ConfigInput, job *v1beta1.UpgradeJob) {
	for _, have := range in.Jobs {
		if have.Spec.StartAfter.Time.Equal(job.Spec.StartAfter.Time) {
			t.Fatalf("a second job for %s", job.Spec.StartAfter)
		}
		if !have.Finished() {
			t.Fatalf("a second job while %s has not ended", have.Name)
		}
	}
	slot := Windows(in.Config).Slot(job.Spec.StartAfter.Time)
	if in.Now.Before(slot.PinAt) || in.Now.After(slot.CreateBefore) {
		t.Fatalf("created at %s for %s", in.Now, job.Spec.StartAfter)
	}
}
