package maintenance

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"refit.dev/refit/api/managedupgrade/v1beta1"
)

const (
	// poll is how often is looked at what may change without waking the controller.
	poll = 10 * time.Second
	// soon is when to look at what the decision itself has changed.
	soon = 200 * time.Millisecond
	// outcomePatience is how long after the end of a job the hooks that cannot influence it any more are followed.
	outcomePatience = 24 * time.Hour
)

// decider works a decision out.
type decider struct {
	Input
	job     *v1beta1.UpgradeJob // a copy, whose status is worked out
	actions []Action
	again   time.Time
}

// Decide says what happens to the job next.
func Decide(in Input) Decision {
	d := &decider{Input: in, job: in.Job.DeepCopy()}
	d.job.Status.ObservedGeneration = d.job.Generation
	d.job.Status.UpgradeBefore = d.job.Spec.StartBefore.DeepCopy()
	d.job.Status.Waiting = ""
	d.follow()
	switch {
	case in.Job.DeletionTimestamp != nil:
		d.deleted()
	case in.Job.Finished():
		d.finished()
	case !d.held():
		d.act(Action{Kind: Hold})
	default:
		d.unfinished()
	}
	d.job.Status.Phase = d.job.Phase()
	out := Decision{Status: d.job.Status, Actions: d.actions}
	if !d.again.IsZero() {
		out.LookAgain = max(d.again.Sub(in.Now), soon)
	}
	return out
}

// name is how what the job takes is marked.
func (d *decider) name() string { return Name(d.Job) }

// Name of a job, as locks and marks name it.
func Name(j *v1beta1.UpgradeJob) string { return j.Namespace + "/" + j.Name }

func (d *decider) act(a Action) {
	d.actions = append(d.actions, a)
	d.at(d.Now.Add(soon))
}

// at has the job looked at again at a time, at the latest.
func (d *decider) at(t time.Time) {
	if d.again.IsZero() || t.Before(d.again) {
		d.again = t
	}
}

// wait says what is waited for. It is false, for the stage that waits to return.
func (d *decider) wait(format string, args ...any) bool {
	if d.job.Status.Waiting == "" {
		d.job.Status.Waiting = fit(fmt.Sprintf(format, args...))
	}
	return false
}

// watch waits for something that may not wake the controller.
func (d *decider) watch(format string, args ...any) bool {
	d.at(d.Now.Add(poll))
	return d.wait(format, args...)
}

func (d *decider) set(kind string, status metav1.ConditionStatus, reason, format string, args ...any) {
	meta.SetStatusCondition(&d.job.Status.Conditions, metav1.Condition{
		Type: kind, Status: status, Reason: reason, Message: fit(fmt.Sprintf(format, args...)),
		LastTransitionTime: metav1.NewTime(d.Now), ObservedGeneration: d.job.Generation,
	})
}

func (d *decider) condition(kind string) *metav1.Condition {
	return meta.FindStatusCondition(d.job.Status.Conditions, kind)
}

// fail ends the job. What it took is given back at the next look. It is false, for the stage that failed to return.
func (d *decider) fail(reason, format string, args ...any) bool {
	d.set(v1beta1.ConditionFailed, metav1.ConditionTrue, reason, format, args...)
	d.ended()
	return false
}

func (d *decider) succeed(reason, format string, args ...any) {
	d.set(v1beta1.ConditionSucceeded, metav1.ConditionTrue, reason, format, args...)
	d.ended()
}

func (d *decider) ended() {
	if d.condition(v1beta1.ConditionPaused) != nil {
		d.set(v1beta1.ConditionPaused, metav1.ConditionFalse, v1beta1.ReasonCompleted, "The job has ended")
	}
	d.job.Status.Waiting = ""
	d.at(d.Now)
}

// fit makes a text fit into a condition, which takes 32768 bytes, and on a screen.
func fit(text string) string {
	const most = 4096
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}

// local shows a time to people.
func local(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 MST") }
