package nodeupgrade

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"refit.dev/refit/api/v1alpha1"
)

// Decide works out what is to happen next. It is pure.
func Decide(o Observation, l Limits) Decision {
	d := &decider{o: o, l: l, s: *o.Upgrade.Status.DeepCopy()}
	d.s.ObservedGeneration = o.Upgrade.Generation
	for _, settled := range rules {
		if settled(d) {
			break
		}
	}
	out := Decision{Status: d.s, Action: d.action}
	if !d.due.IsZero() {
		out.RequeueAfter = max(d.due.Sub(o.Now), time.Second)
	}
	return out
}

// rules are asked in their order; the first that settles what is to happen ends the chain.
var rules = []func(*decider) bool{
	deleting,
	retryAsked,
	nodeGone,
	reopened,
	alreadyEnded,
	finalizerMissing,
	taken,
	aborting,
	nodeSilent,
	staging,
	copyingEtcd,
	upgrading,
}

type decider struct {
	o      Observation
	l      Limits
	s      v1alpha1.NodeUpgradeStatus
	action Action
	due    time.Time
}

func deleting(d *decider) bool {
	nu := d.o.Upgrade
	if nu.DeletionTimestamp == nil {
		return false
	}
	if !slices.Contains(nu.Finalizers, v1alpha1.Finalizer) {
		return true
	}
	until := nu.DeletionTimestamp.Add(d.l.Deletion)
	if _, pod := d.o.live(); pod != nil && d.o.Now.Before(until) {
		d.stop(pod, until)
		d.ready(ReasonDeleting, "the step under way on the node is left to end first")
		return true
	}
	if d.o.cordonedByUs() {
		d.action = Uncordon{}
		return true
	}
	d.action = RemoveFinalizer{}
	return true
}

func retryAsked(d *decider) bool {
	if d.s.Retried >= d.o.Upgrade.Spec.Retry {
		return false
	}
	if d.s.Phase == v1alpha1.NodeFailed || d.s.Phase == v1alpha1.NodeSkipped || d.s.Phase == v1alpha1.NodeAborted {
		d.s.Phase, d.s.Attempts, d.s.Interruptions, d.s.FinishedAt, d.s.Step = v1alpha1.NodePending, 0, 0, nil, ""
		if d.o.Node != nil && d.s.NodeUID != string(d.o.Node.UID) { // the node was replaced: nothing is known of the new one
			d.s.NodeUID, d.s.FromVersion, d.s.Steps, d.s.Conditions = "", "", nil, nil
		}
		meta.RemoveStatusCondition(&d.s.Conditions, v1alpha1.ConditionUpgraderPodCreated)
		d.ready(ReasonRetryAsked, "a person asked to try again")
	}
	d.s.Retried = d.o.Upgrade.Spec.Retry
	return d.s.Phase == v1alpha1.NodePending && d.s.Reason() == ReasonRetryAsked
}

func nodeGone(d *decider) bool {
	name := d.o.Upgrade.Spec.Machine.Name
	switch {
	case d.s.Phase.Ended():
		return false
	case d.o.Node == nil && d.s.NodeUID == "":
		d.fail(ReasonNodeNotFound, fmt.Sprintf("there is no node %q: delete this NodeUpgrade and name one that `kubectl get nodes` shows", name))
	case d.o.Node == nil:
		d.fail(ReasonNodeDeleted, "the node was deleted from the cluster while it was being upgraded")
	case d.s.NodeUID != "" && d.s.NodeUID != string(d.o.Node.UID):
		d.fail(ReasonNodeRecreated, "a node of that name is there, but another one than when the upgrade began: "+d.anew())
	default:
		return false
	}
	return true
}

// reopened goes on with a node that was given up as lost and came back, unless a person holds it since.
func reopened(d *decider) bool {
	begun := meta.FindStatusCondition(d.s.Conditions, v1alpha1.ConditionUpgraderPodCreated) != nil
	if begun && d.o.Upgrade.Spec.Hold || d.s.Phase != v1alpha1.NodeFailed || d.s.Reason() != ReasonNodeLost || d.o.Node == nil || !d.o.nodeReady() {
		return false
	}
	d.s.Phase, d.s.FinishedAt = v1alpha1.NodeStaging, nil
	if begun {
		d.s.Phase = v1alpha1.NodeUpgrading
	}
	return false
}

// alreadyEnded leaves nothing behind: a Pod that waits for its image must not begin later by itself, and the upgrade's own
// cordon is lifted once the node is Ready.
func alreadyEnded(d *decider) bool {
	if !d.s.Phase.Ended() {
		return false
	}
	_, pod := d.o.live()
	switch {
	case d.s.Reason() == ReasonNodeLost:
		// The Pod may be at work out of sight, and goes on when the node is back.
	case pod != nil && pod.DeletionTimestamp == nil:
		d.action = DeletePod{Name: pod.Name, UID: pod.UID}
	case pod == nil && d.o.cordonedByUs() && d.o.nodeReady():
		d.action = Uncordon{}
	}
	return true
}

func finalizerMissing(d *decider) bool {
	if slices.Contains(d.o.Upgrade.Finalizers, v1alpha1.Finalizer) {
		return false
	}
	d.action = AddFinalizer{}
	return true
}

// taken records which node it is, once.
func taken(d *decider) bool {
	if d.s.NodeUID == "" {
		d.s.NodeUID, d.s.FromVersion = string(d.o.Node.UID), d.o.Node.Status.NodeInfo.KubeletVersion
	}
	if d.s.Phase == "" {
		d.s.Phase = v1alpha1.NodePending
		d.ready(ReasonPending, "nothing has been done yet")
	}
	return false
}

// nodeSilent bounds how long a node may say nothing, and starts no Pod meanwhile.
func nodeSilent(d *decider) bool {
	ready := d.o.ready()
	if ready.Status != corev1.ConditionUnknown || d.s.Phase == v1alpha1.NodeStaged {
		return false
	}
	since := ready.LastTransitionTime
	until := since.Add(d.l.NodeLost)
	if !d.o.Now.Before(until) {
		d.fail(ReasonNodeLost, fmt.Sprintf("the node has said nothing since %s%s: see to it; the upgrade goes on by itself when it is back",
			since.UTC().Format(time.RFC3339), d.during()))
		return true
	}
	d.wake(until)
	d.ready(ReasonNodeNotReady, fmt.Sprintf("the node has said nothing since %s%s", since.UTC().Format(time.RFC3339), d.during()))
	return true
}

func (d *decider) during() string {
	if d.s.Step == "" {
		return ""
	}
	return fmt.Sprintf(", during step %s", d.s.Step)
}

func aborting(d *decider) bool {
	if !d.o.Upgrade.Spec.Abort || d.s.Touched() {
		return false
	}
	if role, pod := d.o.live(); pod != nil {
		d.follow(role, pod)
		if d.s.Touched() || d.o.ready().Status == corev1.ConditionUnknown {
			return false
		}
		d.stop(pod, d.o.Now.Add(d.l.Deletion))
		d.ready(ReasonAborting, "the step under way is left to end first")
		return true
	}
	d.end(v1alpha1.NodeAborted, ReasonAborted, "aborted before the node was changed")
	return true
}

// stop deletes a Pod once, and waits for its end.
func (d *decider) stop(pod *corev1.Pod, until time.Time) {
	d.wake(until)
	if pod.DeletionTimestamp == nil {
		d.action = DeletePod{Name: pod.Name, UID: pod.UID}
	}
}

// wake asks for another look at that time, or earlier.
func (d *decider) wake(at time.Time) {
	if d.due.IsZero() || at.Before(d.due) {
		d.due = at
	}
}

func (d *decider) ready(reason, message string) {
	d.condition(v1alpha1.ConditionReady, metav1.ConditionFalse, reason, message)
}

func (d *decider) condition(kind string, status metav1.ConditionStatus, reason, message string) {
	meta.SetStatusCondition(&d.s.Conditions, metav1.Condition{Type: kind, Status: status, Reason: reason, Message: message,
		ObservedGeneration: d.o.Upgrade.Generation, LastTransitionTime: metav1.NewTime(d.o.Now)})
}

func (d *decider) fail(reason, message string) { d.end(v1alpha1.NodeFailed, reason, message) }

// retry is the command that has the node tried again.
func (d *decider) retry() string { return "`refit retry " + d.o.Upgrade.Spec.Machine.Name + "`" }

// anew says how a node in the place of another comes to its version.
func (d *decider) anew() string {
	if d.o.Upgrade.Labels[v1alpha1.LabelUpgrade] == "" {
		return d.retry() + " upgrades it"
	}
	return "the upgrade takes it as a new node; where it has stopped, `refit resume` has it go on"
}

func (d *decider) end(phase v1alpha1.NodeUpgradePhase, reason, message string) {
	d.s.Phase = phase
	d.s.FinishedAt = &metav1.Time{Time: d.o.Now}
	d.due = time.Time{}
	d.ready(reason, message)
}
