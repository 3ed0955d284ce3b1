package kubernetesupgrade

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	"refit.dev/refit/api/v1alpha1"
)

// announce emits an event for each state that was passed, and one where the reason for waiting changed.
func (r *Reconciler) announce(t *turn, before v1alpha1.KubernetesUpgradeStatus) {
	reason, message := t.upgrade.Reason(), t.upgrade.Status.Waiting
	if c := meta.FindStatusCondition(t.upgrade.Status.Conditions, v1alpha1.ConditionReady); c != nil && c.Message != "" {
		message = c.Message
	}
	for _, state := range t.decision.Passed {
		kind, note := corev1.EventTypeNormal, string(state)
		if state == t.upgrade.Status.State {
			if state == v1alpha1.StateUpgradeFailed || state == v1alpha1.StateUpgradeAborted {
				kind = corev1.EventTypeWarning
			}
			if message != "" {
				note += ": " + message
			}
		}
		r.Recorder.Eventf(t.upgrade, nil, kind, reason, "Upgrade", "%s", note)
	}
	if len(t.decision.Passed) > 0 {
		return
	}
	was := meta.FindStatusCondition(before.Conditions, v1alpha1.ConditionReady)
	if was == nil || was.Reason != reason {
		r.Recorder.Eventf(t.upgrade, nil, corev1.EventTypeNormal, reason, "Wait", "%s", message)
	}
}
