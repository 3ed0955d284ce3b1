package nodeupgrade

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/controller/cachewait"
	"refit.dev/refit/internal/controller/cordon"
)

// act carries out one action. Each may have been carried out before, by a manager that was killed just after.
func (r *Reconciler) act(ctx context.Context, o *Observation, action Action) error {
	switch a := action.(type) {
	case CreatePod:
		return r.createPod(ctx, o.Upgrade, a)
	case DeletePod:
		return r.deletePod(ctx, o.Upgrade, a)
	case Uncordon:
		return r.uncordon(ctx, o)
	case AddFinalizer:
		return r.setFinalizer(ctx, o.Upgrade, controllerutil.AddFinalizer)
	case RemoveFinalizer:
		err := r.setFinalizer(ctx, o.Upgrade, controllerutil.RemoveFinalizer)
		if err == nil && r.Observer != nil {
			r.Observer.Gone(o.Upgrade)
		}
		return err
	}
	return nil
}

func (r *Reconciler) createPod(ctx context.Context, nu *v1alpha1.NodeUpgrade, a CreatePod) error {
	pod, err := buildPod(nu, a.Role, a.Spec)
	if err != nil {
		return err
	}
	if err := r.Client.Create(ctx, pod); err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("create Pod %s: %w", pod.Name, err)
	}
	cachewait.For(ctx, r.Client, pod)
	return nil
}

func (r *Reconciler) deletePod(ctx context.Context, nu *v1alpha1.NodeUpgrade, a DeletePod) error {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: nu.Namespace, Name: a.Name}}
	err := r.Client.Delete(ctx, pod, client.Preconditions{UID: &a.UID})
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) { // it is gone, or another Pod has its name
		return nil
	}
	if err != nil {
		return fmt.Errorf("delete Pod %s: %w", a.Name, err)
	}
	return nil
}

func (r *Reconciler) uncordon(ctx context.Context, o *Observation) error {
	node, err := cordon.Lift(ctx, r.Client, o.Node)
	if err != nil {
		return client.IgnoreNotFound(err)
	}
	cachewait.For(ctx, r.Client, node)
	return nil
}

func (r *Reconciler) setFinalizer(ctx context.Context, nu *v1alpha1.NodeUpgrade, set func(client.Object, string) bool) error {
	changed := nu.DeepCopy()
	if !set(changed, v1alpha1.Finalizer) {
		return nil
	}
	patch := client.MergeFromWithOptions(nu, client.MergeFromWithOptimisticLock{})
	if err := r.Client.Patch(ctx, changed, patch); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("change the finalizer of NodeUpgrade %s: %w", nu.Name, err)
	}
	return nil
}
