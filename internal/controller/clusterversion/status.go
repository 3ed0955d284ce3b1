package clusterversion

import (
	"context"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"refit.dev/refit/api/managedupgrade/v1beta1"
)

// maxNote is how many bytes of an API server's refusal are kept; an event takes no more than 1024.
const maxNote = 900

// outcome is what the Synced condition will say.
type outcome struct {
	reason, message string
}

func (o outcome) status() metav1.ConditionStatus {
	if o.reason == v1beta1.ReasonSynced {
		return metav1.ConditionTrue
	}
	return metav1.ConditionFalse
}

func refused(format string, args ...any) outcome {
	message := fmt.Sprintf(format, args...)
	if len(message) > maxNote {
		message = strings.ToValidUTF8(message[:maxNote], "") + "…"
	}
	return outcome{v1beta1.ReasonRefused, message}
}

// ignored is the status of an object that does not count: nothing of it applies.
func ignored(o, counts *v1beta1.ClusterVersion, now time.Time) v1beta1.ClusterVersionStatus {
	out := v1beta1.ClusterVersionStatus{Conditions: o.DeepCopy().Status.Conditions}
	conclude(o, &out, now, outcome{v1beta1.ReasonAnother, fmt.Sprintf("ClusterVersion %s/%s is older, so it is the one that counts: delete one of the two", counts.Namespace, counts.Name)})
	return out
}

// counted is the status of the object that counts.
func counted(o *v1beta1.ClusterVersion, now time.Time, came outcome) v1beta1.ClusterVersionStatus {
	out := v1beta1.ClusterVersionStatus{Conditions: o.DeepCopy().Status.Conditions, Overlays: previews(o.Spec, now)}
	out.Current, out.OverlayApplied, _ = effective(o.Spec, now)
	conclude(o, &out, now, came)
	return out
}

func conclude(o *v1beta1.ClusterVersion, status *v1beta1.ClusterVersionStatus, now time.Time, came outcome) {
	meta.SetStatusCondition(&status.Conditions, metav1.Condition{Type: v1beta1.ConditionSynced, Status: came.status(), Reason: came.reason,
		Message: came.message, LastTransitionTime: metav1.NewTime(now), ObservedGeneration: o.Generation})
}

// write stores a status where it changed, and warns of a refusal that is news.
func (r *Reconciler) write(ctx context.Context, o *v1beta1.ClusterVersion, status v1beta1.ClusterVersionStatus) error {
	if equality.Semantic.DeepEqual(o.Status, status) {
		return nil
	}
	before := meta.FindStatusCondition(o.Status.Conditions, v1beta1.ConditionSynced)
	o.Status = status
	if err := r.Client.Status().Update(ctx, o); err != nil {
		return fmt.Errorf("write the status of ClusterVersion %s/%s: %w", o.Namespace, o.Name, err)
	}
	now := meta.FindStatusCondition(status.Conditions, v1beta1.ConditionSynced)
	if now.Reason == v1beta1.ReasonRefused && (before == nil || before.Reason != now.Reason || before.Message != now.Message) {
		r.Recorder.Eventf(o, nil, corev1.EventTypeWarning, v1beta1.ReasonRefused, "Sync", "%s", now.Message)
	}
	return nil
}
