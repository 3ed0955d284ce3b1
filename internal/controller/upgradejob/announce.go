package upgradejob

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"refit.dev/refit/api/managedupgrade/v1beta1"
)

// announce emits an event for each condition that changed its status or its reason, and for each hook that ended.
func (r *Reconciler) announce(job *v1beta1.UpgradeJob, before v1beta1.UpgradeJobStatus) {
	for _, c := range job.Status.Conditions {
		was := meta.FindStatusCondition(before.Conditions, c.Type)
		if was != nil && was.Status == c.Status && was.Reason == c.Reason {
			continue
		}
		kind := corev1.EventTypeNormal
		if c.Type == v1beta1.ConditionFailed && c.Status == metav1.ConditionTrue {
			kind = corev1.EventTypeWarning
		}
		r.Recorder.Eventf(job, nil, kind, c.Reason, c.Type, "%s: %s", c.Type, brief(c.Message))
	}
	for _, t := range job.Status.HookTracker {
		if !ended(t) || ended(tracked(before.HookTracker, t)) {
			continue
		}
		if t.Status == v1beta1.HookFailed {
			r.Recorder.Eventf(job, nil, corev1.EventTypeWarning, "HookFailed", "RunHook", "Hook %s failed at %s %s: %s", t.UpgradeJobHook, t.HookEvent, t.TrackingKey, brief(t.Message))
		} else {
			r.Recorder.Eventf(job, nil, corev1.EventTypeNormal, "HookCompleted", "RunHook", "Hook %s completed at %s %s", t.UpgradeJobHook, t.HookEvent, t.TrackingKey)
		}
	}
}

// brief is a text that fits into an event, which takes 1024 bytes.
func brief(text string) string {
	const most = 800
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}

func ended(t v1beta1.HookTracker) bool {
	return t.Status == v1beta1.HookComplete || t.Status == v1beta1.HookFailed
}

// tracked is the entry of the same run, empty where there is none.
func tracked(all []v1beta1.HookTracker, t v1beta1.HookTracker) v1beta1.HookTracker {
	for _, have := range all {
		if have.HookEvent == t.HookEvent && have.TrackingKey == t.TrackingKey && have.UpgradeJobHook == t.UpgradeJobHook {
			return have
		}
	}
	return v1beta1.HookTracker{}
}
