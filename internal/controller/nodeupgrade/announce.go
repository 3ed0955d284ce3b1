package nodeupgrade

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"refit.dev/refit/api/v1alpha1"
)

// announce emits an event for each condition that became something else; its reason is the condition's. Of a worker, whose like there
// are thousands, it tells what a person is to know: that it is done, given up, or in trouble.
func (r *Reconciler) announce(nu *v1alpha1.NodeUpgrade, before *v1alpha1.NodeUpgradeStatus) {
	for _, c := range transitions(before.Conditions, nu.Status.Conditions) {
		if nu.Spec.NodeType == v1alpha1.NodeTypeWorker && routine(c) {
			continue
		}
		kind := corev1.EventTypeNormal
		if warnings[c.Reason] || failedReasons[c.Reason] {
			kind = corev1.EventTypeWarning
		}
		r.Recorder.Eventf(nu, nil, kind, c.Reason, c.Type, "%s", eventNote(c))
	}
}

// routine says that a condition tells of nothing but a step on the way.
func routine(c metav1.Condition) bool {
	if warnings[c.Reason] || failedReasons[c.Reason] {
		return false
	}
	return c.Type != v1alpha1.ConditionReady || routineReasons[c.Reason]
}

var routineReasons = map[string]bool{ReasonPending: true, ReasonStaging: true, ReasonStaged: true, ReasonUpgrading: true, ReasonSettling: true}

func eventNote(c metav1.Condition) string {
	if c.Message == "" {
		return c.Type + " is " + string(c.Status)
	}
	return clip(c.Message)
}

// transitions are the conditions whose status or reason changed. One that only says that a step is running is left out: the
// event of its end says it all. Another failed attempt is one, though its reason is the same.
func transitions(before, after []metav1.Condition) []metav1.Condition {
	var out []metav1.Condition
	for _, c := range after {
		old := meta.FindStatusCondition(before, c.Type)
		same := old != nil && old.Status == c.Status && old.Reason == c.Reason
		again := (c.Reason == ReasonRetrying || c.Reason == ReasonInterrupted) && (old == nil || old.Message != c.Message)
		if same && !again || runningReasons[c.Reason] || c.Reason == ReasonWaiting {
			continue
		}
		out = append(out, c)
	}
	return out
}

var runningReasons = stepReasons(v1alpha1.StepRunning)
var failedReasons = stepReasons(v1alpha1.StepFailed)

func stepReasons(state v1alpha1.StepState) map[string]bool {
	out := map[string]bool{}
	for _, step := range stepsOf(RoleUpgrader, v1alpha1.NodeTypeControlPlane) {
		out[stepReason(step, state)] = true
	}
	return out
}
