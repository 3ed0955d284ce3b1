package cli

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/install"
)

// warnWithoutManager says that nothing will happen, where no manager runs. It is no error: one may be on its way, and a
// user who may start upgrades need not be allowed to look.
func (a *app) warnWithoutManager(ctx context.Context, c client.Reader) {
	var d appsv1.Deployment
	err := c.Get(ctx, client.ObjectKey{Namespace: v1alpha1.Namespace, Name: install.Manager}, &d)
	if client.IgnoreNotFound(err) != nil || err == nil && d.Status.AvailableReplicas > 0 {
		return
	}
	a.note("No manager is running: the upgrade begins once there is one. See `kubectl -n %s get pods`, or run `refit install`.", v1alpha1.Namespace)
}
