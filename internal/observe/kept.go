package observe

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"refit.dev/refit/api/v1alpha1"
)

// Kept gives what there are thousands of. What it gives is only to be looked at: it may be a cache's own, since copies would be megabytes
// for each look.
type Kept interface {
	// Nodes are all nodes, in any order.
	Nodes(ctx context.Context) ([]*corev1.Node, error)
	// NodeUpgrades are all claims on nodes, in any order.
	NodeUpgrades(ctx context.Context) ([]*v1alpha1.NodeUpgrade, error)
}

// listed has them from a reader.
type listed struct{ client.Reader }

func (l listed) Nodes(ctx context.Context) ([]*corev1.Node, error) {
	var list corev1.NodeList
	if err := l.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list nodes: %w", err)
	}
	return pointers(list.Items), nil
}

func (l listed) NodeUpgrades(ctx context.Context) ([]*v1alpha1.NodeUpgrade, error) {
	var list v1alpha1.NodeUpgradeList
	if err := l.List(ctx, &list, client.InNamespace(v1alpha1.Namespace), client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list NodeUpgrades: %w", err)
	}
	return pointers(list.Items), nil
}

func pointers[T any](all []T) []*T {
	out := make([]*T, len(all))
	for i := range all {
		out[i] = &all[i]
	}
	return out
}
