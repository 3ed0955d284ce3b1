// Package wake decides which changes of a cluster are worth a reconcile.
package wake

import (
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"refit.dev/refit/api/v1alpha1"
)

// OnNode lets those changes of a Node through that can change a decision. Heartbeats cannot.
func OnNode() predicate.Predicate { return predicate.Funcs{UpdateFunc: nodeMatters} }

func nodeMatters(e event.UpdateEvent) bool {
	before, ok1 := e.ObjectOld.(*corev1.Node)
	after, ok2 := e.ObjectNew.(*corev1.Node)
	if !ok1 || !ok2 {
		return true
	}
	return before.UID != after.UID || before.Spec.Unschedulable != after.Spec.Unschedulable ||
		before.Annotations[v1alpha1.AnnotationCordonedBy] != after.Annotations[v1alpha1.AnnotationCordonedBy] ||
		before.Status.NodeInfo.KubeletVersion != after.Status.NodeInfo.KubeletVersion || readiness(before) != readiness(after)
}

func readiness(n *corev1.Node) corev1.ConditionStatus {
	for _, c := range n.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return c.Status
		}
	}
	return corev1.ConditionUnknown
}
