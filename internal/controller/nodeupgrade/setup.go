package nodeupgrade

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/controller/wake"
)

const (
	indexNode    = "spec.machine.name"
	indexVersion = "spec.kubernetesVersion"
	concurrency  = 10
	timeout      = time.Minute
)

// SetupWithManager registers the reconciler: it wakes on NodeUpgrades, their Pods, their nodes and their versions.
func (r *Reconciler) SetupWithManager(ctx context.Context, mgr ctrl.Manager) error {
	indexes := map[string]func(*v1alpha1.NodeUpgrade) string{
		indexNode:    func(nu *v1alpha1.NodeUpgrade) string { return nu.Spec.Machine.Name },
		indexVersion: func(nu *v1alpha1.NodeUpgrade) string { return nu.Spec.KubernetesVersion },
	}
	for field, value := range indexes {
		extract := func(o client.Object) []string {
			if nu, ok := o.(*v1alpha1.NodeUpgrade); ok {
				return []string{value(nu)}
			}
			return nil
		}
		if err := mgr.GetFieldIndexer().IndexField(ctx, &v1alpha1.NodeUpgrade{}, field, extract); err != nil {
			return err
		}
	}
	return ctrl.NewControllerManagedBy(mgr).
		Named("nodeupgrade").
		For(&v1alpha1.NodeUpgrade{}).
		Owns(&corev1.Pod{}).
		Watches(&corev1.Node{}, r.named(indexNode), builder.WithPredicates(wake.OnNode())).
		Watches(&v1alpha1.KubernetesVersion{}, r.named(indexVersion), builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		WithOptions(controller.Options{MaxConcurrentReconciles: concurrency, ReconciliationTimeout: timeout}).
		Complete(r)
}

// named maps an object to the NodeUpgrades that name it and have not ended.
func (r *Reconciler) named(field string) handler.EventHandler {
	return handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, o client.Object) []reconcile.Request {
		var list v1alpha1.NodeUpgradeList
		if err := r.Client.List(ctx, &list, client.MatchingFields{field: o.GetName()}); err != nil {
			return nil
		}
		var requests []reconcile.Request
		for i := range list.Items {
			nu := &list.Items[i]
			if done := nu.Status.Phase == v1alpha1.NodeCompleted && nu.DeletionTimestamp == nil; !done {
				requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(nu)})
			}
		}
		return requests
	})
}
