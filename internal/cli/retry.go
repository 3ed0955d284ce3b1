package cli

import (
	"context"
	"errors"
	"fmt"

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
An upgrade that failed because of the node goes on, and so does every other node of it that failed.`,
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
	if upgrade.Status.Phase != v1alpha1.NodeFailed {
		return notFailed(upgrade)
	}
	whole, err := stoppedBy(ctx, c, upgrade)
	if err != nil {
		return err
	}
	if whole != "" {
		// The rollout asks the gates and counts who is out of service before it tries the node again.
		return a.control(cmd, whole, retryOf(node))
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
func retryOf(node string) func(context.Context, client.Client, *v1alpha1.KubernetesUpgrade) (string, error) {
	return func(ctx context.Context, c client.Client, u *v1alpha1.KubernetesUpgrade) (string, error) {
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

// latestOf is the latest NodeUpgrade of a node. The error says whether the node, or just its upgrade, does not exist.
func latestOf(ctx context.Context, c client.Reader, node string) (*v1alpha1.NodeUpgrade, error) {
	if _, err := findNode(ctx, c, node); err != nil {
		return nil, err
	}
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
	if latest == nil {
		return nil, fmt.Errorf("node %s has not been part of an upgrade yet", node)
	}
	return latest, nil
}
