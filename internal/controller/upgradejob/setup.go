package upgradejob

import (
	"context"

	configv1 "github.com/openshift/api/config/v1"
	mcfgv1 "github.com/openshift/api/machineconfiguration/v1"
	batchv1 "k8s.io/api/batch/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
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
		For(&v1beta1.UpgradeJob{}).
		Owns(&batchv1.Job{}).
		Watches(&v1beta1.UpgradeJobHook{}, active).
		Watches(&v1beta1.UpgradeSuspensionWindow{}, active).
		Watches(&v1alpha1.KubernetesUpgrade{}, active).
		WithOptions(controller.Options{MaxConcurrentReconciles: 1, ReconciliationTimeout: timeout})
	if r.Targets.IsOpenShift {
		b = b.Watches(&configv1.ClusterVersion{}, active).Watches(&mcfgv1.MachineConfigPool{}, active)
	}
	return b.Complete(r)
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
