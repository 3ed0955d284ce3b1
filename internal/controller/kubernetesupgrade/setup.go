package kubernetesupgrade

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/controller/wake"
)

const (
	// timeout bounds one reconcile, its observation included.
	timeout = time.Minute
	// gather is how long changes of nodes and of their claims are gathered that make room for others. It is most of the time between one
	// node that is done and the next that is begun.
	gather = 200 * time.Millisecond
	// count is how long changes are gathered that are only counted.
	count = 2 * time.Second
)

// SetupWithManager registers the reconciler: it wakes on upgrades, on what they own, on the claims of their nodes, and on nodes,
// versions and plans.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	moment := wake.ByUrgency(gather, count)
	unfinished := wake.Gather(moment, func(ctx context.Context, _ client.Object) []reconcile.Request {
		var list v1alpha1.KubernetesUpgradeList
		if err := mgr.GetClient().List(ctx, &list); err != nil {
			return nil
		}
		var out []reconcile.Request
		for i := range list.Items {
			if !list.Items[i].Finished() {
				out = append(out, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])})
			}
		}
		return out
	})
	return ctrl.NewControllerManagedBy(mgr).
		Named("kubernetesupgrade").
		For(&v1alpha1.KubernetesUpgrade{}, builder.WithPredicates(wake.OnUpgrade())).
		Owns(&v1alpha1.ControlPlaneUpgrade{}).
		Watches(&v1alpha1.NodeUpgrade{}, wake.Gather(moment, byLabel), builder.WithPredicates(wake.OnClaim())).
		Watches(&corev1.Node{}, unfinished, builder.WithPredicates(wake.OnNode())).
		Watches(&v1alpha1.KubernetesVersion{}, unfinished).
		Watches(&v1alpha1.RolloutPlan{}, unfinished).
		WithOptions(controller.Options{MaxConcurrentReconciles: 1, ReconciliationTimeout: timeout}).
		Complete(r)
}

// byLabel maps a claim to the upgrade that its label names.
func byLabel(_ context.Context, o client.Object) []reconcile.Request {
	if name := o.GetLabels()[v1alpha1.LabelUpgrade]; name != "" {
		return []reconcile.Request{{NamespacedName: client.ObjectKey{Name: name}}}
	}
	return nil
}
