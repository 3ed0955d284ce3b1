package upgradejob

import (
	"context"
	"slices"

	configv1 "github.com/openshift/api/config/v1"
	mcfgv1 "github.com/openshift/api/machineconfiguration/v1"
	batchv1 "k8s.io/api/batch/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"refit.dev/refit/api/managedupgrade/v1beta1"
	"refit.dev/refit/api/v1alpha1"
)

// SetupWithManager registers the reconciler: it wakes on jobs, on the Jobs of their hooks, on hooks and windows, and on what jobs upgrade:
// OpenShift's objects where its API is served, and KubernetesUpgrades.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	active := handler.EnqueueRequestsFromMapFunc(r.active)
	b := ctrl.NewControllerManagedBy(mgr).
		Named("upgradejob").
		// Its own writes of the status need not wake it: what it waits for, it looks at again by itself.
		For(&v1beta1.UpgradeJob{}, builder.WithPredicates(predicate.Or(predicate.GenerationChangedPredicate{}, predicate.LabelChangedPredicate{}, finalizers()))).
		Owns(&batchv1.Job{}).
		Watches(&v1beta1.UpgradeJobHook{}, active).
		Watches(&v1beta1.UpgradeSuspensionWindow{}, active).
		Watches(&v1alpha1.KubernetesUpgrade{}, active, builder.WithPredicates(matters())).
		WithOptions(controller.Options{MaxConcurrentReconciles: 1, ReconciliationTimeout: timeout})
	if r.Targets.IsOpenShift {
		b = b.Watches(&configv1.ClusterVersion{}, active)
	}
	if r.Targets.HasPools {
		b = b.Watches(&mcfgv1.MachineConfigPool{}, active)
	}
	return b.Complete(r)
}

// finalizers lets the changes of finalizers and the beginning of a deletion through.
func finalizers() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		return !slices.Equal(e.ObjectOld.GetFinalizers(), e.ObjectNew.GetFinalizers()) || (e.ObjectOld.GetDeletionTimestamp() == nil) != (e.ObjectNew.GetDeletionTimestamp() == nil)
	}}
}

// matters lets those changes of an upgrade through that can end what a job waits for; its counts are looked at now and then.
func matters() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, ok1 := e.ObjectOld.(*v1alpha1.KubernetesUpgrade)
		after, ok2 := e.ObjectNew.(*v1alpha1.KubernetesUpgrade)
		return !ok1 || !ok2 || before.Status.State != after.Status.State || before.Finished() != after.Finished() || before.Generation != after.Generation
	}}
}

// active maps any change to the jobs that are not over.
func (r *Reconciler) active(ctx context.Context, _ client.Object) []reconcile.Request {
	var list v1beta1.UpgradeJobList
	if err := r.Client.List(ctx, &list); err != nil {
		return nil
	}
	var out []reconcile.Request
	for i := range list.Items {
		if j := &list.Items[i]; !j.Finished() || len(j.Finalizers) > 0 {
			out = append(out, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(j)})
		}
	}
	return out
}
