package wake

import (
	"k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"refit.dev/refit/api/v1alpha1"
)

// OnClaim lets those changes of a NodeUpgrade through that can change a decision about other nodes, or what is counted. Its way
// through the steps cannot.
func OnClaim() predicate.Predicate { return predicate.Funcs{UpdateFunc: claimMatters} }

func claimMatters(e event.UpdateEvent) bool {
	before, ok1 := e.ObjectOld.(*v1alpha1.NodeUpgrade)
	after, ok2 := e.ObjectNew.(*v1alpha1.NodeUpgrade)
	if !ok1 || !ok2 {
		return true
	}
	return before.UID != after.UID || before.Generation != after.Generation || before.DeletionTimestamp.IsZero() != after.DeletionTimestamp.IsZero() ||
		!equality.Semantic.DeepEqual(before.Labels, after.Labels) || !equality.Semantic.DeepEqual(before.Annotations, after.Annotations) ||
		before.Status.Phase != after.Status.Phase || before.Status.NodeUID != after.Status.NodeUID || before.Status.Retried != after.Status.Retried ||
		before.Status.Reason() != after.Status.Reason() || before.Status.Uncordoned() != after.Status.Uncordoned()
}
