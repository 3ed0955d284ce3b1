package clusterversion

import (
	"context"

	configv1 "github.com/openshift/api/config/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"refit.dev/refit/api/managedupgrade/v1beta1"
)

// everything is the one request: every change leads to it.
var everything = reconcile.Request{NamespacedName: client.ObjectKey{Name: "all"}}

// SetupWithManager registers the reconciler: it wakes on the specs of ClusterVersions, ours and, where the cluster serves it,
// OpenShift's. The manager's scheme must know both then.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager, openShift bool) error {
	r.openShift = openShift
	toAll := handler.EnqueueRequestsFromMapFunc(func(context.Context, client.Object) []reconcile.Request { return []reconcile.Request{everything} })
	spec := builder.WithPredicates(predicate.GenerationChangedPredicate{})
	b := ctrl.NewControllerManagedBy(mgr).Named("clusterversion").Watches(&v1beta1.ClusterVersion{}, toAll, spec)
	if openShift {
		b = b.Watches(&configv1.ClusterVersion{}, toAll, spec)
	}
	return b.WithOptions(controller.Options{MaxConcurrentReconciles: 1, ReconciliationTimeout: timeout}).Complete(r)
}
