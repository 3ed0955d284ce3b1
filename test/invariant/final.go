package invariant

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"refit.dev/refit/api/v1alpha1"
)

// End is what must hold when an upgrade has ended, well or not.
type End struct {
	// From and To are the versions: each node runs the one or the other.
	From, To string
	// AllAt, if set, is the version that every node must run.
	AllAt string
	// Cordoned are the nodes that a person has cordoned: they, and no others, are cordoned at the end.
	Cordoned map[string]bool
	// Down are nodes that the test left broken.
	Down map[string]bool
}

// Check says what does not hold at the end.
func (e End) Check(ctx context.Context, c client.Client) ([]string, error) {
	var nodes corev1.NodeList
	if err := c.List(ctx, &nodes); err != nil {
		return nil, fmt.Errorf("list the nodes: %w", err)
	}
	var out []string
	for _, n := range nodes.Items {
		at := n.Status.NodeInfo.KubeletVersion
		switch {
		case e.AllAt != "" && at != e.AllAt && !e.Down[n.Name]:
			out = append(out, fmt.Sprintf("%s runs %s, not %s", n.Name, at, e.AllAt))
		case at != e.From && at != e.To:
			out = append(out, fmt.Sprintf("%s runs %s, neither %s nor %s", n.Name, at, e.From, e.To))
		}
		if n.Spec.Unschedulable != e.Cordoned[n.Name] && !e.Down[n.Name] {
			out = append(out, fmt.Sprintf("%s: cordoned is %t", n.Name, n.Spec.Unschedulable))
		}
		if _, marked := n.Annotations[v1alpha1.AnnotationCordonedBy]; marked && !e.Down[n.Name] {
			out = append(out, n.Name+" still has the mark of Refit's cordon")
		}
		if !ready(n) && !e.Down[n.Name] {
			out = append(out, n.Name+" is not Ready")
		}
	}
	return out, nil
}
