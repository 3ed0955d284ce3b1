package windows

import (
	"errors"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"refit.dev/refit/api/managedupgrade/v1beta1"
	"refit.dev/refit/internal/schedule"
)

func at(text string) time.Time {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		panic(err)
	}
	return t
}

// nightly is a config that upgrades at 22:00, and pins the version at 18:00.
func nightly() *v1beta1.UpgradeConfig {
	c := &v1beta1.UpgradeConfig{ObjectMeta: metav1.ObjectMeta{Name: "nightly", Namespace: "m", Labels: map[string]string{"team": "web"},
		CreationTimestamp: metav1.NewTime(at("2026-01-01T00:00:00Z"))}}
	c.Spec.Schedule = v1beta1.UpgradeConfigSchedule{Cron: "0 22 * * *", Location: "UTC"}
	c.Spec.PinVersionWindow = &metav1.Duration{Duration: 4 * time.Hour}
	c.Spec.JobTemplate.Metadata.Labels = map[string]string{"job": "nightly"}
	return c
}

// input is the cluster at a time, with a version that is available.
func input(now string) Input {
	return Input{Config: nightly(), Available: []configv1.Release{{Version: "4.18.2"}, {Version: "4.18.10"}}, VersionsSeen: true, Now: at(now), From: at(now), Count: 2}
}

func job(name, start string, conditions ...metav1.Condition) v1beta1.UpgradeJob {
	return v1beta1.UpgradeJob{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "m", Labels: map[string]string{"job": "nightly"}},
		Spec: v1beta1.UpgradeJobSpec{StartAfter: metav1.NewTime(at(start)), StartBefore: metav1.NewTime(at(start).Add(time.Hour)),
			DesiredVersion: &configv1.Update{Version: "4.18.1"}},
		Status: v1beta1.UpgradeJobStatus{Conditions: conditions}}
}

func isTrue(kind, reason string) metav1.Condition {
	return metav1.Condition{Type: kind, Status: metav1.ConditionTrue, Reason: reason, Message: "it says"}
}

func suspension(name, start, end string) v1beta1.UpgradeSuspensionWindow {
	return v1beta1.UpgradeSuspensionWindow{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "m"},
		Spec: v1beta1.UpgradeSuspensionWindowSpec{Start: metav1.NewTime(at(start)), End: metav1.NewTime(at(end))}}
}

func forecast(t *testing.T, in Input) []Window {
	t.Helper()
	all, err := Forecast(in)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return all
}

func actions(all []Window) []string {
	var out []string
	for _, w := range all {
		out = append(out, w.Action)
	}
	return out
}

func TestTheHighestVersionWouldBePinned(t *testing.T) {
	g := NewWithT(t)
	all := forecast(t, input("2026-11-20T12:00:00Z"))
	g.Expect(actions(all)).To(Equal([]string{"upgrade", "upgrade"}))
	g.Expect(all[0].Version).To(Equal("4.18.10"))
	g.Expect(all[0].JobCreated.Time).To(Equal(at("2026-11-20T18:00:00Z")))
	g.Expect(all[0].StartBefore.Time).To(Equal(at("2026-11-20T23:00:00Z")))
}

func TestWithoutAVersionNothingIsUpgraded(t *testing.T) {
	g := NewWithT(t)
	in := input("2026-11-20T12:00:00Z")
	in.Available = nil
	all := forecast(t, in)
	g.Expect(all[0].Action).To(Equal("no upgrade"))
	g.Expect(all[0].versionText()).To(Equal("none available: hooks and health checks only"))
	in.VersionsSeen = false
	g.Expect(forecast(t, in)[0].versionText()).To(Equal("unknown"))
	in.Now = time.Time{} // manifests alone
	g.Expect(forecast(t, in)[0].versionText()).To(BeEmpty())
}

func TestAWindowWhoseJobWasNotCreatedInTimeIsSkipped(t *testing.T) {
	missed := "nothing: no job was created for it"
	g := NewWithT(t)
	g.Expect(actions(forecast(t, input("2026-11-20T18:30:00Z")))).To(Equal([]string{"upgrade", "upgrade"}), "it may still be created")
	g.Expect(actions(forecast(t, input("2026-11-20T19:00:01Z")))).To(Equal([]string{missed, "upgrade"}))

	in := input("2026-11-20T18:30:00Z")
	in.Config.Status.LastScheduledUpgrade = &metav1.Time{Time: at("2026-11-20T22:00:00Z")} // it was suspended when it was to be
	g.Expect(actions(forecast(t, in))).To(Equal([]string{missed, "upgrade"}))
}

func TestAJobThatHasNotEndedKeepsTheNextFromBeingCreated(t *testing.T) {
	g := NewWithT(t)
	in := input("2026-11-20T18:30:00Z")
	in.Jobs = []v1beta1.UpgradeJob{job("old", "2026-11-19T22:00:00Z", isTrue(v1beta1.ConditionStarted, v1beta1.ReasonStarted))}
	g.Expect(actions(forecast(t, in))).To(Equal([]string{"no job is created: an earlier job has not ended when it would be", "upgrade"}))
}

func TestAJobThatWasCreatedSaysWhereItStands(t *testing.T) {
	for action, conditions := range map[string][]metav1.Condition{
		"job new is created":           nil,
		"job new is active":            {isTrue(v1beta1.ConditionStarted, v1beta1.ReasonStarted)},
		"job new has succeeded":        {isTrue(v1beta1.ConditionSucceeded, v1beta1.ReasonSucceeded)},
		"job new was skipped: it says": {isTrue(v1beta1.ConditionSucceeded, v1beta1.ReasonSkipped)},
		"job new has failed: Expired":  {isTrue(v1beta1.ConditionFailed, v1beta1.ReasonExpired)},
	} {
		g := NewWithT(t)
		in := input("2026-11-20T21:00:00Z")
		in.Jobs = []v1beta1.UpgradeJob{job("new", "2026-11-20T22:00:00Z", conditions...)}
		w := forecast(t, in)[0]
		g.Expect(w.Action).To(Equal(action))
		g.Expect(w.Version).To(Equal("4.18.1"), "its own")
		g.Expect(w.Job).To(Equal("new"))
	}
}

func TestTheMomentOfASuspensionIsTold(t *testing.T) {
	g := NewWithT(t)
	in := input("2026-11-20T12:00:00Z")
	pin, start := suspension("pin", "2026-11-20T17:00:00Z", "2026-11-20T18:00:00Z"), suspension("start", "2026-11-21T22:00:00Z", "2026-11-22T00:00:00Z")
	pin.Spec.ConfigSelector, start.Spec.JobSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"team": "web"}}, &metav1.LabelSelector{MatchLabels: map[string]string{"job": "nightly"}}
	in.Suspensions = []v1beta1.UpgradeSuspensionWindow{pin, start}
	all := forecast(t, in)
	g.Expect(all[0].SuspendedBy).To(Equal(&Suspension{Kind: "window", Name: "pin", Until: pin.Spec.End, What: JobNotCreated}))
	g.Expect(all[0].Version).To(BeEmpty(), "nothing is pinned")
	g.Expect(all[1].SuspendedBy).To(Equal(&Suspension{Kind: "window", Name: "start", Until: start.Spec.End, What: JobSkipped}))
	g.Expect(all[1].Version).To(Equal("4.18.10"))

	in.Config.Spec.Schedule.Suspend = true
	g.Expect(forecast(t, in)[1].SuspendedBy).To(Equal(&Suspension{Kind: "config", Name: "nightly", What: JobNotCreated}))
}

func TestASelectorThatCannotBeReadHolds(t *testing.T) {
	g := NewWithT(t)
	wrong := &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Near"}}}
	in := input("2026-11-20T12:00:00Z")
	in.Suspensions = []v1beta1.UpgradeSuspensionWindow{suspension("w", "2026-11-20T17:00:00Z", "2026-11-21T18:00:00Z")}
	in.Suspensions[0].Spec.ConfigSelector = wrong
	g.Expect(forecast(t, in)[0].Action).To(And(HavePrefix("no job is created before this is corrected: "), ContainSubstring("spec.configSelector")))
	in.Suspensions[0].Spec.ConfigSelector, in.Suspensions[0].Spec.JobSelector = nil, wrong
	g.Expect(forecast(t, in)[0].Action).To(And(HavePrefix("the job does not start before this is corrected: "), ContainSubstring("spec.jobSelector")))
}

func TestAWrongScheduleIsAnErrorOfItsField(t *testing.T) {
	g := NewWithT(t)
	in := input("2026-11-20T12:00:00Z")
	in.Config.Spec.Schedule.ISOWeek = "99"
	_, err := Forecast(in)
	var field *schedule.FieldError
	g.Expect(errors.As(err, &field)).To(BeTrue())
	w := Invalid(in.Config, err)
	g.Expect(w.what()).To(HavePrefix(`never: spec.schedule.isoWeek "99" is no ISO week: `))
	g.Expect(Table([]Window{w}, in.From).Lines(true)[1]).To(HavePrefix("m/nightly   -        -    -      -             -         -              -     never: "))
}
