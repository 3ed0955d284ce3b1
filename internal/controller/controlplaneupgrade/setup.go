package controlplaneupgrade

import (
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/controller"

	"refit.dev/refit/api/v1alpha1"
)

// timeout bounds one reconcile, its observation included.
const timeout = time.Minute

// SetupWithManager registers the reconciler: it wakes on ControlPlaneUpgrades and on the claims that they own.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).
		Named("controlplaneupgrade").
		For(&v1alpha1.ControlPlaneUpgrade{}).
		Owns(&v1alpha1.NodeUpgrade{}).
		WithOptions(controller.Options{MaxConcurrentReconciles: 1, ReconciliationTimeout: timeout}).
		Complete(r)
}
