package suspensionwindow

import (
	"context"
	"maps"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"refit.dev/refit/api/managedupgrade/v1beta1"
)

// SetupWithManager registers the reconciler: it wakes on the specs of windows, and on UpgradeConfigs and UpgradeJobs that come, go, get
// other labels, or finish.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	ofNamespace := handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, o client.Object) []reconcile.Request {
		var list v1beta1.UpgradeSuspensionWindowList
		if err := r.Client.List(ctx, &list, client.InNamespace(o.GetNamespace())); err != nil {
			log.FromContext(ctx).Error(err, "list UpgradeSuspensionWindows", "namespace", o.GetNamespace())
			return nil
		}
		out := make([]reconcile.Request, 0, len(list.Items))
		for i := range list.Items {
			out = append(out, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])})
		}
		return out
	})
	matters := builder.WithPredicates(predicate.Funcs{UpdateFunc: matters})
	return ctrl.NewControllerManagedBy(mgr).
		Named("suspensionwindow").
		For(&v1beta1.UpgradeSuspensionWindow{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Watches(&v1beta1.UpgradeConfig{}, ofNamespace, matters).
		Watches(&v1beta1.UpgradeJob{}, ofNamespace, matters).
		WithOptions(controller.Options{MaxConcurrentReconciles: 1, ReconciliationTimeout: timeout}).
		Complete(r)
}

// matters says whether a change can make a window match something else.
func matters(e event.UpdateEvent) bool {
	return e.ObjectOld.GetUID() != e.ObjectNew.GetUID() || !maps.Equal(e.ObjectOld.GetLabels(), e.ObjectNew.GetLabels()) || finished(e.ObjectOld) != finished(e.ObjectNew)
}

func finished(o client.Object) bool {
	job, ok := o.(*v1beta1.UpgradeJob)
	return ok && job.Finished()
}
