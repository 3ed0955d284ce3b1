package install

import (
	"context"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// fieldOwner is under what name the API server remembers who set what.
const fieldOwner = client.FieldOwner("refit-install")

// establishTimeout bounds the wait for one CRD to be served.
const establishTimeout = time.Minute

// Change is what applying an object does.
type Change struct {
	Object string
	// Exists says that there is such an object already, which is brought to what is wanted.
	Exists bool
}

// Preview says what Apply would do.
func Preview(ctx context.Context, c client.Client, objects []*unstructured.Unstructured) ([]Change, error) {
	var changes []Change
	for _, o := range objects {
		known := &unstructured.Unstructured{}
		known.SetGroupVersionKind(o.GroupVersionKind())
		err := c.Get(ctx, client.ObjectKeyFromObject(o), known)
		if err != nil && !apierrors.IsNotFound(err) {
			return nil, fmt.Errorf("look for %s: %w", Name(o), err)
		}
		changes = append(changes, Change{Object: Name(o), Exists: err == nil})
	}
	return changes, nil
}

// Apply brings the objects into the cluster, by server-side apply: what others have added to them stays. It may be
// repeated at any time. said is told each object.
func Apply(ctx context.Context, c client.Client, objects []*unstructured.Unstructured, said func(string)) error {
	objects, err := fit(ctx, c, objects)
	if err != nil {
		return err
	}
	for _, o := range objects {
		applied := o.DeepCopy()
		err := c.Apply(ctx, client.ApplyConfigurationFromUnstructured(applied), fieldOwner, client.ForceOwnership)
		if meta.IsNoMatchError(err) && strings.HasPrefix(o.GetKind(), "ValidatingAdmissionPolicy") { // before Kubernetes 1.30
			said(Name(o) + " is left out: the cluster does not serve its kind")
			continue
		}
		if err != nil {
			return fmt.Errorf("apply %s: %w", Name(o), err)
		}
		if o.GetKind() == "CustomResourceDefinition" {
			if err := established(ctx, c, o); err != nil {
				return err
			}
		}
		said(Name(o))
	}
	return nil
}

// established waits until the API server serves a kind.
func established(ctx context.Context, c client.Client, crd *unstructured.Unstructured) error {
	err := wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, establishTimeout, true, func(ctx context.Context) (bool, error) {
		known := &unstructured.Unstructured{}
		known.SetGroupVersionKind(crd.GroupVersionKind())
		if err := c.Get(ctx, client.ObjectKeyFromObject(crd), known); err != nil {
			return false, client.IgnoreNotFound(err)
		}
		return conditionTrue(known, "Established"), nil
	})
	if err != nil {
		return fmt.Errorf("wait for %s to be served: %w", Name(crd), err)
	}
	return nil
}

func conditionTrue(o *unstructured.Unstructured, kind string) bool {
	conditions, _, err := unstructured.NestedSlice(o.Object, "status", "conditions")
	if err != nil {
		return false
	}
	for _, c := range conditions {
		condition, ok := c.(map[string]any)
		if ok && condition["type"] == kind && condition["status"] == "True" {
			return true
		}
	}
	return false
}
