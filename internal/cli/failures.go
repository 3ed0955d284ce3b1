package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/rollout"
)

// failure is a node that an upgrade failed by, and what has become of it since.
type failure struct {
	node         string
	controlPlane bool
	// settled says why it stops nothing any more, in a few words; empty while it does.
	settled string
}

// find gives the node of that name, nil where there is none. known is false where that could not be read.
type find func(name string) (node *corev1.Node, known bool)

// among finds nodes in a list.
func among(nodes []corev1.Node) find {
	return func(name string) (*corev1.Node, bool) {
		i := slices.IndexFunc(nodes, func(n corev1.Node) bool { return n.Name == name })
		if i < 0 {
			return nil, true
		}
		return &nodes[i], true
	}
}

// reading asks the API server for each: those that failed are few, and the nodes may be thousands.
func reading(ctx context.Context, c client.Reader) find {
	asked := 0
	return func(name string) (*corev1.Node, bool) {
		if asked++; asked > mostNames {
			return nil, false
		}
		var n corev1.Node
		switch err := c.Get(ctx, client.ObjectKey{Name: name}, &n); {
		case apierrors.IsNotFound(err):
			return nil, true
		case err != nil:
			return nil, false
		}
		return &n, true
	}
}

// failures are those that an upgrade may have stopped by.
func (c claims) failures(u *v1alpha1.KubernetesUpgrade, node find) []failure {
	var out []failure
	for i := range c {
		nu := &c[i]
		if nu.Status.Phase != v1alpha1.NodeFailed {
			continue
		}
		f := failure{node: nu.Spec.Machine.Name, controlPlane: nu.Spec.NodeType == v1alpha1.NodeTypeControlPlane}
		switch n, known := node(f.node); {
		case known && n == nil:
			f.settled = f.node + " is gone"
		case known && anotherMachine(n, nu):
			f.settled = f.node + " is another machine now"
		case slices.Contains(u.Spec.Skip, f.node):
			f.settled = f.node + " is left out"
		}
		out = append(out, f)
	}
	return out
}

// anotherMachine says that a NodeUpgrade was about an earlier node of that name.
func anotherMachine(n *corev1.Node, nu *v1alpha1.NodeUpgrade) bool {
	return nu.Status.NodeUID != "" && nu.Status.NodeUID != string(n.UID)
}

// afterFailure is what a person would type next where an upgrade has failed.
func afterFailure(u *v1alpha1.KubernetesUpgrade, failed []failure) string {
	var settled []string
	open := slices.DeleteFunc(slices.Clone(failed), func(f failure) bool {
		if f.settled != "" {
			settled = append(settled, f.settled)
		}
		return f.settled != ""
	})
	switch {
	case len(open) == 0 && len(settled) > 0:
		if len(settled) > mostNames {
			settled = append(settled[:mostNames], "and so on")
		}
		return "`refit resume` goes on: " + strings.Join(settled, ", ")
	case len(open) == 0 && u.Reason() == rollout.ReasonNodesSkipped:
		return "see `refit nodes -o wide`; `refit resume` tries them again, `refit skip NODE` leaves one out, `refit abort` ends it"
	case len(open) == 0:
		return "once the cause is gone `refit resume`, or else `refit abort`"
	case len(open) > 1:
		return "see `refit nodes -o wide` and `refit logs NODE`; once the causes are gone `refit resume`; `refit skip NODE` leaves a worker out, `refit abort` ends it"
	case open[0].controlPlane:
		return fmt.Sprintf("see `refit logs %[1]s`; once the cause is gone `refit retry %[1]s`, or else `refit abort`", open[0].node)
	}
	return fmt.Sprintf("see `refit logs %[1]s`; once the cause is gone `refit retry %[1]s`; `refit skip %[1]s && refit resume` goes on without it, `refit abort` ends it", open[0].node)
}
