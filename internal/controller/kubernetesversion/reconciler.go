// Package kubernetesversion keeps the status of every KubernetesVersion: where it runs, and whether it could.
package kubernetesversion

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/controller/wake"
	"refit.dev/refit/internal/snapshot"
	"refit.dev/refit/internal/version"
)

const (
	// settle is how long changes of nodes are gathered before the states are worked out: each looks at all of them.
	settle = 5 * time.Second
	// refresh is how often the states are worked out though nothing woke the controller, such as for a static pod's new image.
	refresh = time.Minute
	timeout = time.Minute
)

// Observer looks at nodes and at Refit's objects.
type Observer interface {
	Nodes(ctx context.Context) (*snapshot.Cluster, error)
}

// Reconciler works out the states of all versions at once: one observation serves them all.
type Reconciler struct {
	Client   client.Client
	Observer Observer
	Recorder events.EventRecorder
}

// all is the one request: every change leads to it.
var all = reconcile.Request{NamespacedName: client.ObjectKey{Name: "all"}}

// SetupWithManager registers the reconciler: it wakes on versions, upgrades and nodes.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	of := func(context.Context, client.Object) []reconcile.Request { return []reconcile.Request{all} }
	toAll, soon := handler.EnqueueRequestsFromMapFunc(of), wake.Gather(wake.Each(settle), of)
	return ctrl.NewControllerManagedBy(mgr).
		Named("kubernetesversion").
		Watches(&v1alpha1.KubernetesVersion{}, toAll).
		Watches(&v1alpha1.KubernetesUpgrade{}, toAll, builder.WithPredicates(wake.OnUpgrade())).
		Watches(&corev1.Node{}, soon, builder.WithPredicates(wake.OnNode())).
		WithOptions(controller.Options{MaxConcurrentReconciles: 1, ReconciliationTimeout: timeout}).
		Complete(r)
}

// Reconcile writes the states that changed.
func (r *Reconciler) Reconcile(ctx context.Context, _ ctrl.Request) (ctrl.Result, error) {
	seen, err := r.Observer.Nodes(ctx)
	if err != nil {
		return ctrl.Result{}, err
	}
	if reason, unseen := seen.Unobserved[snapshot.PartControlPlanePods]; unseen {
		return ctrl.Result{}, fmt.Errorf("see what the control planes run: %s", reason)
	}
	states := version.States(seen, target(seen.Upgrades))
	for i := range seen.Versions {
		kv := &seen.Versions[i]
		now := states[kv.Spec.Version]
		if equality.Semantic.DeepEqual(kv.Status, now) {
			continue
		}
		before := kv.Status.State
		kv.Status = now
		if err := r.Client.Status().Update(ctx, kv); apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
			return ctrl.Result{RequeueAfter: settle}, nil
		} else if err != nil {
			return ctrl.Result{}, fmt.Errorf("write the state of %s: %w", kv.Name, err)
		}
		if before != now.State {
			r.Recorder.Eventf(kv, nil, corev1.EventTypeNormal, "StateChanged", "Observe", "%s is %s", kv.Name, now.State)
		}
	}
	return ctrl.Result{RequeueAfter: refresh}, nil
}

// target is the toVersion of the upgrade that is not finished, empty while there is none.
func target(upgrades []v1alpha1.KubernetesUpgrade) string {
	for i := range upgrades {
		if !upgrades[i].Finished() && upgrades[i].DeletionTimestamp == nil {
			return upgrades[i].Spec.ToVersion
		}
	}
	return ""
}
