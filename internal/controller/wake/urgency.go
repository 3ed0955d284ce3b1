package wake

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"refit.dev/refit/api/v1alpha1"
)

// ByUrgency gathers for the shorter time what others may be waiting for, and for the longer one what only changes counts: most of what
// happens to nodes on their way does.
func ByUrgency(urgent, other time.Duration) Moment {
	return func(before, after client.Object) time.Duration {
		if before == nil || after == nil || before.GetUID() != after.GetUID() || frees(before, after) {
			return urgent
		}
		return other
	}
}

func frees(before, after client.Object) bool {
	switch now := after.(type) {
	case *v1alpha1.NodeUpgrade:
		was, ok := before.(*v1alpha1.NodeUpgrade)
		return !ok || claimFrees(was, now)
	case *corev1.Node:
		was, ok := before.(*corev1.Node)
		return !ok || nodeFrees(was, now)
	}
	return true
}

// claimFrees says that a node is done or given up, or that it could be begun now.
func claimFrees(before, after *v1alpha1.NodeUpgrade) bool {
	return before.DeletionTimestamp.IsZero() != after.DeletionTimestamp.IsZero() ||
		before.Status.Phase != after.Status.Phase && (after.Status.Phase.Ended() || after.Status.Phase == v1alpha1.NodeStaged)
}

// nodeFrees says that a node is back in service which was not out by an upgrade: of that its claim tells.
func nodeFrees(before, after *corev1.Node) bool {
	return before.Annotations[v1alpha1.AnnotationCordonedBy] == "" && !inService(before) && inService(after)
}

func inService(n *corev1.Node) bool {
	return !n.Spec.Unschedulable && readiness(n) == corev1.ConditionTrue
}
