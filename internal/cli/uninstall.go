package cli

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"refit.dev/refit/api/managedupgrade/v1beta1"
	"refit.dev/refit/internal/install"
)

func newUninstall(a *app) *cobra.Command {
	var purge bool
	cmd := &cobra.Command{
		Use:   "uninstall",
		Short: "Take Refit out of the cluster",
		Long: `Take the manager and its rights out of the cluster. What Refit knows, the versions and the upgrades, stays unless
--purge is given: then its kinds and its namespace go, too. Nodes are not touched. Refused while an upgrade runs.`,
		Example: `  refit uninstall
  refit uninstall --purge`,
		Args: none,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.uninstall(cmd, purge) },
	}
	cmd.Flags().BoolVar(&purge, "purge", false, "remove all that Refit knows, its kinds and its namespace, too")
	return cmd
}

func (a *app) uninstall(cmd *cobra.Command, purge bool) error {
	ctx, cancel := a.bounded(cmd, installTimeout)
	defer cancel()
	c, err := a.connect()
	if err != nil {
		return err
	}
	if err := refuseWhileUnfinished(ctx, c); err != nil {
		return err
	}
	objects, err := install.Render(install.Options{Image: "any", Replicas: 1})
	if err != nil {
		return err
	}
	if err := install.Check(ctx, c, objects, "delete"); err != nil {
		return err
	}
	if err := install.Remove(ctx, c, objects, purge, func(name string) { a.say("removed %s", name) }); err != nil {
		return err
	}
	if !purge {
		a.say("What Refit knows is kept; --purge removes it.")
	}
	return nil
}

func refuseWhileUnfinished(ctx context.Context, c client.Reader) error {
	upgrades, err := listUpgrades(ctx, c)
	if meta.IsNoMatchError(err) {
		return nil // its kinds are gone; the rest may not be
	}
	if err != nil {
		return err
	}
	if u := unfinished(upgrades); u != nil {
		return notEnded(u)
	}
	var jobs v1beta1.UpgradeJobList
	if err := c.List(ctx, &jobs); err != nil && !meta.IsNoMatchError(err) {
		return fmt.Errorf("list UpgradeJobs: %w", err)
	}
	for i := range jobs.Items {
		if j := &jobs.Items[i]; j.Is(v1beta1.ConditionStarted) && slices.Contains(j.Finalizers, v1beta1.FinalizerJob) {
			return fmt.Errorf("UpgradeJob %s/%s is %s, and only the manager gives back what it took: wait for it (`refit jobs why %s`), or delete it and wait until it is gone",
				j.Namespace, j.Name, j.Phase(), j.Name)
		}
	}
	return nil
}
