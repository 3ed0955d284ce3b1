package maintenance

import (
	"fmt"
	"time"

	configv1 "github.com/openshift/api/config/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"refit.dev/refit/api/managedupgrade/v1beta1"
	"refit.dev/refit/internal/schedule"
)

// shortestDelay is how late a job may be created at least: no clock strikes the very instant.
const shortestDelay = time.Minute

// ConfigInput is one observation of an UpgradeConfig.
type ConfigInput struct {
	Now    time.Time
	Config *v1beta1.UpgradeConfig
	// Jobs are those that the config created.
	Jobs []v1beta1.UpgradeJob
	// Windows are those of the config's namespace.
	Windows []v1beta1.UpgradeSuspensionWindow
	// Available are the versions that can be installed; Problem is why they could not be seen.
	Available []configv1.Release
	Problem   string
}

// Event tells people of something.
type Event struct {
	Warning         bool
	Reason, Message string
}

// ConfigDecision is what comes of it: the job is created first, then the status written, then old jobs deleted.
type ConfigDecision struct {
	Status v1beta1.UpgradeConfigStatus
	// Create is the job to create; nil for none.
	Create *v1beta1.UpgradeJob
	// Delete are the names of jobs that the history has no room for.
	Delete []string
	Events []Event
	// LookAgain is after how long to look again though nothing changed; 0 is never.
	LookAgain time.Duration
}

// Spec is the schedule of a config.
func Spec(c *v1beta1.UpgradeConfig) schedule.Spec {
	s := c.Spec.Schedule
	return schedule.Spec{Cron: s.Cron, ISOWeek: s.ISOWeek, Location: s.Location}
}

// Windows are the spans of time around the config's slots.
func Windows(c *v1beta1.UpgradeConfig) schedule.Windows {
	return schedule.Windows{PinVersionWindow: c.PinVersionWindow(), MaxSchedulingDelay: max(c.MaxSchedulingDelay(), shortestDelay),
		MaxUpgradeStartDelay: c.MaxUpgradeStartDelay()}
}

// scheduler works a decision on a config out.
type scheduler struct {
	ConfigInput
	plan    *schedule.Schedule
	windows schedule.Windows
	latest  *v1beta1.UpgradeJob
	// handled is the beginning of the latest slot that needs nothing any more.
	handled time.Time
	out     ConfigDecision
	again   time.Time
}

// Schedule says what happens to the config next.
func Schedule(in ConfigInput) ConfigDecision {
	s := &scheduler{ConfigInput: in, windows: Windows(in.Config), latest: latestJob(in.Jobs)}
	s.out.Status = *in.Config.Status.DeepCopy()
	s.out.Status.ObservedGeneration = in.Config.Generation
	s.out.Delete = history(in.Config, in.Jobs, s.latest)
	plan, err := schedule.Parse(Spec(in.Config))
	if err != nil {
		s.out.Status.NextPossibleSchedules = nil
		s.say(true, metav1.ConditionFalse, v1beta1.ReasonInvalidSchedule, "spec.%v", err)
		return s.out
	}
	s.plan = plan
	s.handled = in.Config.CreationTimestamp.Time
	for _, t := range []*metav1.Time{in.Config.Status.LastScheduledUpgrade, startOf(s.latest)} {
		if t != nil && t.After(s.handled) {
			s.handled = t.Time
			s.out.Status.LastScheduledUpgrade = t.DeepCopy()
		}
	}
	s.decide()
	if !s.again.IsZero() {
		s.out.LookAgain = max(s.again.Sub(in.Now), soon)
	}
	return s.out
}

func startOf(j *v1beta1.UpgradeJob) *metav1.Time {
	if j == nil {
		return nil
	}
	return &j.Spec.StartAfter
}

func (s *scheduler) decide() {
	current, next, ok := s.plan.Due(s.Now, s.windows)
	if !ok { // Parse refuses it
		return
	}
	s.again = next.PinAt
	if current != nil && !current.At.After(s.handled) {
		current = nil
	}
	first := next
	if current != nil {
		first = *current
	}
	s.missed(first)
	s.upcoming(first)
	switch job := s.latest; {
	case job != nil && (!job.Finished() || job.Spec.StartAfter.After(s.Now)):
		s.pending(job, current)
	case current != nil:
		s.due(*current)
	case s.Config.Spec.Schedule.Suspend:
		s.say(false, metav1.ConditionFalse, v1beta1.ReasonSuspended, "spec.schedule.suspend is true: no jobs are created")
	default:
		s.say(false, metav1.ConditionTrue, v1beta1.ReasonWaiting, "The job for %s is created at %s", s.local(next.At), s.local(next.PinAt))
	}
}

// missed tells of slots whose time went by, because the manager was away or an earlier job had not ended.
func (s *scheduler) missed(first schedule.Slot) {
	const most = 1000 // a schedule of every minute, and a manager that was away for a day
	var last time.Time
	at, n := s.handled, 0
	for range most {
		var ok bool
		if at, ok = s.plan.Next(at); !ok || !at.Before(first.At) {
			break
		}
		last, n = at, n+1
	}
	if n == 0 {
		return
	}
	s.handle(last)
	s.out.Events = append(s.out.Events, Event{Warning: true, Reason: v1beta1.ReasonWindowMissed,
		Message: fmt.Sprintf("No job was created for %s until %s, so the window is skipped (%d in all)", s.local(last), s.local(s.windows.Slot(last).CreateBefore), n)})
	if n == most {
		s.again = s.Now
	}
}

func (s *scheduler) handle(at time.Time) {
	s.handled = at
	s.out.Status.LastScheduledUpgrade = &metav1.Time{Time: at}
}

// upcoming shows the slots to come.
func (s *scheduler) upcoming(first schedule.Slot) {
	after := first.At.Add(-time.Nanosecond)
	if s.handled.After(after) {
		after = s.handled
	}
	s.out.Status.NextPossibleSchedules = nil
	for _, at := range s.plan.NextN(after, v1beta1.SchedulesShown) {
		s.out.Status.NextPossibleSchedules = append(s.out.Status.NextPossibleSchedules, v1beta1.NextPossibleSchedule{Time: metav1.NewTime(at)})
	}
}

// pending is a config whose latest job is not over: there is no second one.
func (s *scheduler) pending(job *v1beta1.UpgradeJob, current *schedule.Slot) {
	if current != nil {
		s.at(current.CreateBefore.Add(soon))
		s.say(true, metav1.ConditionFalse, v1beta1.ReasonJobPending, "UpgradeJob %s has not ended, so the one for %s is not created", job.Name, s.local(current.At))
		return
	}
	s.say(false, metav1.ConditionTrue, v1beta1.ReasonJobPending, "UpgradeJob %s starts at %s", job.Name, s.local(job.Spec.StartAfter.Time))
}

func (s *scheduler) at(t time.Time) {
	if t.Before(s.again) {
		s.again = t
	}
}

// due is a slot whose job may be created now.
func (s *scheduler) due(slot schedule.Slot) {
	window, err := Suspends(s.Windows, s.Config, s.Now)
	switch {
	case s.Config.Spec.Schedule.Suspend:
		s.handle(slot.At)
		s.say(false, metav1.ConditionFalse, v1beta1.ReasonSuspended, "spec.schedule.suspend is true: no job is created for %s", s.local(slot.At))
	case err != nil:
		s.at(s.Now.Add(poll))
		s.say(true, metav1.ConditionFalse, v1beta1.ReasonSuspendedWindow, "%v: correct it", err)
	case window != nil:
		s.handle(slot.At)
		s.say(false, metav1.ConditionFalse, v1beta1.ReasonSuspendedWindow, "UpgradeSuspensionWindow %s holds upgrades until %s%s: no job is created for %s",
			window.Name, s.local(window.Spec.End.Time), because(window.Spec.Reason), s.local(slot.At))
	case s.Problem != "":
		s.at(s.Now.Add(poll))
		s.say(true, metav1.ConditionFalse, v1beta1.ReasonVersionsUnknown, "The available versions cannot be seen: %s", s.Problem)
	case selectors(s.Config.Spec.JobTemplate.Spec.Config) != nil:
		s.at(s.Now.Add(poll))
		s.say(true, metav1.ConditionFalse, v1beta1.ReasonInvalidSchedule, "spec.jobTemplate.spec.config.%v", selectors(s.Config.Spec.JobTemplate.Spec.Config))
	default:
		s.handle(slot.At)
		s.out.Create = newJob(s.Config, slot, Latest(s.Available))
		s.say(false, metav1.ConditionTrue, v1beta1.ReasonJobCreated, "UpgradeJob %s is created%s; it starts at %s", s.out.Create.Name, towards(s.out.Create), s.local(slot.At))
	}
	s.upcoming(slot)
}

// selectors is what is wrong with the selectors of pools; nil where nothing is.
func selectors(c v1beta1.UpgradeJobConfig) error {
	for i := range c.MachineConfigPools {
		if _, err := c.MachineConfigPools[i].MatchLabels.Selector(); err != nil {
			return fmt.Errorf("machineConfigPools[%d].%w", i, err)
		}
	}
	if on := c.PauseMachineConfigPoolsOnFailure; on != nil {
		if _, err := metav1.LabelSelectorAsSelector(on.Selector); err != nil {
			return fmt.Errorf("pauseMachineConfigPoolsOnFailure.selector: %w", err)
		}
	}
	return nil
}

// say sets the condition, and tells of it where it is news.
func (s *scheduler) say(warning bool, status metav1.ConditionStatus, reason, format string, args ...any) {
	before := meta.FindStatusCondition(s.Config.Status.Conditions, v1beta1.ConditionScheduled)
	now := metav1.Condition{Type: v1beta1.ConditionScheduled, Status: status, Reason: reason, Message: fmt.Sprintf(format, args...),
		LastTransitionTime: metav1.NewTime(s.Now), ObservedGeneration: s.Config.Generation}
	if reason != v1beta1.ReasonWaiting && (before == nil || before.Reason != reason || before.Message != now.Message) {
		s.out.Events = append(s.out.Events, Event{Warning: warning, Reason: reason, Message: now.Message})
	}
	meta.SetStatusCondition(&s.out.Status.Conditions, now)
}

// local shows a time as the schedule's clock shows it.
func (s *scheduler) local(t time.Time) string {
	return t.In(s.plan.Location()).Format("Mon 2006-01-02 15:04 MST")
}
