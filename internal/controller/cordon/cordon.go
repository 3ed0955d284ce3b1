// Package cordon lifts the cordons that Refit set.
package cordon

import (
	"context"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"refit.dev/refit/api/v1alpha1"
)

// Lift takes the cordon and its mark away in one write, and only if the node is as it was seen: otherwise it returns an IsConflict error.
// It returns the node as it was written. The patch names what it removes, since the cache keeps only a part of a node: the difference
// to that would remove every other annotation, too.
func Lift(ctx context.Context, c client.Client, seen *corev1.Node) (*corev1.Node, error) {
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"resourceVersion": seen.ResourceVersion, "annotations": map[string]any{v1alpha1.AnnotationCordonedBy: nil}},
		"spec":     map[string]any{"unschedulable": nil},
	})
	if err != nil {
		return nil, fmt.Errorf("write the patch of node %s: %w", seen.Name, err)
	}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: seen.Name}}
	if err := c.Patch(ctx, node, client.RawPatch(types.MergePatchType, patch)); err != nil {
		return nil, fmt.Errorf("lift the cordon of node %s: %w", seen.Name, err)
	}
	return node, nil
}
