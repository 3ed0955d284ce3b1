package install

import (
	"context"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"refit.dev/refit/api/managedupgrade/v1beta1"
	"refit.dev/refit/api/v1alpha1"
)

// goneTimeout bounds the wait for the manager to let go of its objects.
const goneTimeout = 30 * time.Second

// Remove takes Refit out of the cluster: the manager and its rights, and with purge also everything that Refit knows, its
// kinds and its namespace. Call it only while no upgrade runs.
func Remove(ctx context.Context, c client.Client, objects []*unstructured.Unstructured, purge bool, said func(string)) error {
	if purge {
		if err := removeOwn(ctx, c, said); err != nil {
			return err
		}
	}
	for _, o := range slices.Backward(objects) {
		kept := o.GetKind() == "Namespace" || o.GetKind() == "CustomResourceDefinition"
		if kept && !purge {
			continue
		}
		err := c.Delete(ctx, o.DeepCopy(), client.PropagationPolicy("Background"))
		if client.IgnoreNotFound(err) != nil && !meta.IsNoMatchError(err) {
			return fmt.Errorf("remove %s: %w", Name(o), err)
		}
		if err == nil {
			said(Name(o))
		}
	}
	if purge {
		return gone(ctx, c, objects)
	}
	return nil
}

// gone waits until the kinds are not served any more: an installation right after would find them half gone.
func gone(ctx context.Context, c client.Client, objects []*unstructured.Unstructured) error {
	for _, o := range objects {
		if o.GetKind() != "CustomResourceDefinition" {
			continue
		}
		err := wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, goneTimeout, true, func(ctx context.Context) (bool, error) {
			err := c.Get(ctx, client.ObjectKeyFromObject(o), o.DeepCopy())
			return apierrors.IsNotFound(err), client.IgnoreNotFound(err)
		})
		if err != nil {
			return fmt.Errorf("wait for %s to be gone: %w", Name(o), err)
		}
	}
	return nil
}

// kinds of Refit's own objects, in the order of their removal: what makes others goes first.
func kinds() []client.ObjectList {
	return []client.ObjectList{&v1beta1.UpgradeConfigList{}, &v1beta1.UpgradeJobList{}, &v1beta1.UpgradeJobHookList{}, &v1beta1.UpgradeSuspensionWindowList{},
		&v1beta1.ClusterVersionList{}, &v1alpha1.KubernetesUpgradeList{}, &v1alpha1.ControlPlaneUpgradeList{}, &v1alpha1.NodeUpgradeList{},
		&v1alpha1.KubernetesVersionList{}, &v1alpha1.RolloutPlanList{}}
}

func removeOwn(ctx context.Context, c client.Client, said func(string)) error {
	for _, list := range kinds() {
		err := Each(ctx, c, list, func(o client.Object) error {
			said(fmt.Sprintf("%T %s", o, o.GetName()))
			return client.IgnoreNotFound(c.Delete(ctx, o))
		})
		if err != nil {
			return err
		}
	}
	err := wait.PollUntilContextTimeout(ctx, time.Second, goneTimeout, true, func(ctx context.Context) (bool, error) {
		left := 0
		for _, list := range kinds() {
			if err := Each(ctx, c, list, func(client.Object) error { left++; return nil }); err != nil {
				return false, err
			}
		}
		return left == 0, nil
	})
	if err == nil || ctx.Err() != nil || !wait.Interrupted(err) {
		return err
	}
	return release(ctx, c, said)
}

// release lets go of objects whose manager is not there to do it. Nothing is being upgraded: there is nothing to give back.
func release(ctx context.Context, c client.Client, said func(string)) error {
	for _, list := range kinds() {
		err := Each(ctx, c, list, func(o client.Object) error {
			if !controllerutil.RemoveFinalizer(o, v1alpha1.Finalizer) && !controllerutil.RemoveFinalizer(o, v1beta1.FinalizerJob) {
				return nil
			}
			said(fmt.Sprintf("%T %s (no manager let go of it)", o, o.GetName()))
			return client.IgnoreNotFound(c.Update(ctx, o))
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Each does something with every object of a list. A kind that the cluster does not know has none.
func Each(ctx context.Context, c client.Client, list client.ObjectList, do func(client.Object) error) error {
	err := c.List(ctx, list)
	if meta.IsNoMatchError(err) {
		return nil // the kind is gone already
	}
	if err != nil {
		return fmt.Errorf("list what Refit made: %w", err)
	}
	return meta.EachListItem(list, func(o runtime.Object) error {
		object, ok := o.(client.Object)
		if !ok {
			return nil
		}
		return do(object)
	})
}
