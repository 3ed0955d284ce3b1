package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"refit.dev/refit/api/v1alpha1"
)

func newRetry(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "retry NODE",
		Short: "Try a failed node again",
		Long: `Try a failed node again, once its reason (see 'refit logs NODE') is gone. Steps that are done are not done again. It
raises spec.retry of the node's NodeUpgrade, or has the upgrade that the node has stopped do that.
An upgrade that failed because of the node goes on, and so does every other node of it that failed. A node that was left
out by 'refit skip' is taken in again.`,
		Example: `  refit logs worker-3
  refit retry worker-3
  refit retry worker-3 && refit status --watch`,
		Args:              oneNode,
		ValidArgsFunction: a.completeOne(a.nodeNames),
		RunE:              func(cmd *cobra.Command, args []string) error { return a.retry(cmd, args[0]) },
	}
}

func (a *app) retry(cmd *cobra.Command, node string) error {
	ctx, cancel := a.bounded(cmd, defaultTimeout)
	defer cancel()
	c, err := a.connect()
	if err != nil {
		return err
	}
	upgrade, err := latestOf(ctx, c, node)
	if err != nil {
		return err
	}
	machine, err := findNode(ctx, c, node)
	if err != nil {
		return goneOr(err, node)
	}
	if upgrade.Status.Phase != v1alpha1.NodeFailed {
		return notFailed(upgrade)
	}
	whole, err := stoppedBy(ctx, c, upgrade)
	if err != nil {
		return err
	}
	if whole != "" {
		// The rollout asks the gates and counts who is out of service before it tries the node again.
		return a.control(cmd, whole, retryOf(node, anotherMachine(machine, upgrade)))
	}
	before := upgrade.DeepCopy()
	upgrade.Spec.Retry = max(upgrade.Spec.Retry, upgrade.Status.Retried) + 1
	if err := c.Patch(ctx, upgrade, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
		return fmt.Errorf("ask for node %s to be tried again: %w", node, err)
	}
	a.say("node %s is tried again: see `refit nodes` and `refit logs %s -f`", node, node)
	return nil
}

// notFailed says where a node stands that there is nothing to try again on.
func notFailed(u *v1alpha1.NodeUpgrade) error {
	text := fmt.Sprintf("node %s has not failed: its upgrade to %s is %s", u.Spec.Machine.Name, u.Spec.KubernetesVersion, orUnknown(string(u.Status.Phase)))
	switch u.Status.Phase {
	case v1alpha1.NodeSkipped, v1alpha1.NodeAborted:
		text += "; `refit resume` goes on with the upgrade, and with this node"
	}
	return errors.New(text)
}

// retryOf resumes the upgrade that a node has stopped.
func retryOf(node string, replaced bool) func(context.Context, client.Client, *v1alpha1.KubernetesUpgrade) (string, error) {
	return func(ctx context.Context, c client.Client, u *v1alpha1.KubernetesUpgrade) (string, error) {
		u.Spec.Skip = slices.DeleteFunc(u.Spec.Skip, func(name string) bool { return name == node }) // the later word counts
		if u.Status.State != v1alpha1.StateUpgradeFailed && replaced {
			return fmt.Sprintf("node %s is another machine than the one that failed, and upgrade %s takes it in its turn", node, u.Name), nil
		}
		if u.Status.State != v1alpha1.StateUpgradeFailed {
			return "", fmt.Errorf("upgrade %s has not stopped at node %s yet (%s): try again once `refit status` says upgrade-failed", u.Name, node, stateOf(u))
		}
		if _, err := resume(ctx, c, u); err != nil {
			return "", err
		}
		return fmt.Sprintf("node %s is tried again, and upgrade %s goes on: watch it with `refit status --watch`", node, u.Name), nil
	}
}

// stoppedBy names the whole upgrade that a failed node has stopped, empty where there is none.
func stoppedBy(ctx context.Context, c client.Client, node *v1alpha1.NodeUpgrade) (string, error) {
	upgrades, err := listUpgrades(ctx, c)
	if err != nil {
		return "", err
	}
	for _, u := range upgrades {
		if u.Name == node.Labels[v1alpha1.LabelUpgrade] && !u.Finished() {
			return u.Name, nil
		}
	}
	return "", nil
}

// goneOr says of a node that was part of an upgrade that it is gone, and not that its name is wrong.
func goneOr(err error, node string) error {
	var missing *noNodeError
	if !errors.As(err, &missing) {
		return err
	}
	return fmt.Errorf("node %s is gone, and holds nothing up: `refit resume` goes on with an upgrade that stopped at it; another machine is upgraded once it has joined", node)
}

// latestOf is the latest NodeUpgrade of a node. The error says whether the node, or just its upgrade, does not exist.
func latestOf(ctx context.Context, c client.Reader, node string) (*v1alpha1.NodeUpgrade, error) {
	var list v1alpha1.NodeUpgradeList
	if err := c.List(ctx, &list, client.InNamespace(v1alpha1.Namespace)); err != nil {
		return nil, fmt.Errorf("list node upgrades: %w", err)
	}
	var latest *v1alpha1.NodeUpgrade
	for i := range list.Items {
		u := &list.Items[i]
		if u.Spec.Machine.Name == node && (latest == nil || latest.CreationTimestamp.Before(&u.CreationTimestamp)) {
			latest = u
		}
	}
	if latest != nil {
		return latest, nil
	}
	if _, err := findNode(ctx, c, node); err != nil {
		return nil, err
	}
	return nil, fmt.Errorf("node %s has not been part of an upgrade yet", node)
}
