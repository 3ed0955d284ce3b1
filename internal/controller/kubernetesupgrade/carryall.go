package kubernetesupgrade

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"refit.dev/refit/internal/controller/claim"
	"refit.dev/refit/internal/rollout"
)

// hands is how many actions on nodes are carried out at once: one after another, a wave of fifty would wait for its own first nodes.
const hands = 10

// carryAll does every action of a decision, and returns the claims as they were written. First come the actions that are about the whole
// cluster, one after another; then those on nodes, of which none rests on another, so that one that fails holds no other up. Nodes are begun
// before others are staged.
func (r *Reconciler) carryAll(ctx context.Context, t *turn) ([]client.Object, error) {
	var nodes []rollout.Action
	for _, a := range t.decision.Actions {
		if claim.OnNode(a) {
			nodes = append(nodes, a)
			continue
		}
		if _, err := r.carryOne(ctx, t, a); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(nodes, func(a, b rollout.Action) int { return cmp.Compare(rank(a), rank(b)) })
	objects, errs := make([]client.Object, len(nodes)), make([]error, len(nodes))
	var group errgroup.Group
	group.SetLimit(hands)
	for i, a := range nodes {
		group.Go(func() error {
			objects[i], errs[i] = r.carryOne(ctx, t, a)
			return nil
		})
	}
	_ = group.Wait() // each has its own error
	return objects, gravest(errs)
}

// gravest is an error that is more than that somebody else was faster, where there is one.
func gravest(errs []error) error {
	errs = slices.DeleteFunc(errs, func(err error) bool { return err == nil })
	if i := slices.IndexFunc(errs, func(err error) bool { return !outdated(err) }); i >= 0 {
		return errs[i]
	}
	if len(errs) == 0 {
		return nil
	}
	return errs[0]
}

func (r *Reconciler) carryOne(ctx context.Context, t *turn, a rollout.Action) (client.Object, error) {
	log.FromContext(ctx).Info("acting", "action", a.Kind, "node", a.Node, "version", a.Version, "why", a.Why)
	o, err := r.carry(ctx, t, a)
	if err != nil {
		return nil, fmt.Errorf("carry out %s: %w", a.Kind, err)
	}
	return o, nil
}

// rank is 0 for what gives or takes something back at once, 1 for what is only prepared.
func rank(a rollout.Action) int {
	if a.Kind == rollout.Stage {
		return 1
	}
	return 0
}
