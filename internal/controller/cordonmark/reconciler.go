// Package cordonmark removes the mark of Refit's cordon from nodes that a person has uncordoned: the mark would make the next
// cordon, which is a person's, look like Refit's.
package cordonmark

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/controller/cordon"
)

const (
	// staleAfter is when to look again after somebody else wrote the node first.
	staleAfter = 200 * time.Millisecond
	timeout    = time.Minute
)

// Reconciler looks at one node at a time.
type Reconciler struct{ Client client.Client }

// SetupWithManager registers the reconciler: it wakes on nodes with a left-over mark, and on no others.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	marked := predicate.NewPredicateFuncs(func(o client.Object) bool {
		n, ok := o.(*corev1.Node)
		return ok && leftOver(n)
	})
	return ctrl.NewControllerManagedBy(mgr).
		Named("cordonmark").
		For(&corev1.Node{}, builder.WithPredicates(marked)).
		WithOptions(controller.Options{MaxConcurrentReconciles: 1, ReconciliationTimeout: timeout}).
		Complete(r)
}

// Reconcile removes the mark, if the node is as it was seen: Refit writes the mark and the cordon in one write, and takes them away
// in one, so that a node with the mark alone is in the middle of neither. Whoever cordons it just now makes this write fail.
func (r *Reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	var n corev1.Node
	if err := r.Client.Get(ctx, req.NamespacedName, &n); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !leftOver(&n) {
		return ctrl.Result{}, nil
	}
	switch _, err := cordon.Lift(ctx, r.Client, &n); {
	case apierrors.IsConflict(err):
		return ctrl.Result{RequeueAfter: staleAfter}, nil
	case client.IgnoreNotFound(err) != nil:
		return ctrl.Result{}, fmt.Errorf("remove the mark of a cordon that is gone from node %s: %w", n.Name, err)
	}
	log.FromContext(ctx).Info("removed the mark of a cordon that a person has lifted", "node", n.Name)
	return ctrl.Result{}, nil
}

// leftOver says that the node has the mark, but no cordon.
func leftOver(n *corev1.Node) bool {
	_, marked := n.Annotations[v1alpha1.AnnotationCordonedBy]
	return marked && !n.Spec.Unschedulable
}
