package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/rollout"
)

func newResume(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "resume [UPGRADE]",
		Short: "Go on with an upgrade that is paused, failed or aborted",
		Long: `Go on with an upgrade that is paused, failed or aborted. Where to go on is worked out from what the nodes run now,
not from where the upgrade stopped: what was done by hand in between counts. An aborted upgrade that another one followed
is not resumed: begin it anew with 'refit upgrade'.`,
		Example: `  refit resume
  refit resume && refit status --watch`,
		ValidArgsFunction: a.completeOne(a.upgradeNames),
		Args:              maybeUpgrade,
		RunE:              func(cmd *cobra.Command, args []string) error { return a.control(cmd, first(args), resume) },
	}
}

func resume(ctx context.Context, c client.Client, u *v1alpha1.KubernetesUpgrade) (string, error) {
	all, err := listUpgrades(ctx, c)
	if err != nil {
		return "", err
	}
	if other := rollout.Overtaken(all, u); other != "" {
		return "", fmt.Errorf("upgrade %s was begun since %s was aborted: begin anew with `refit upgrade %s`", other, u.Name, u.Spec.ToVersion)
	}
	stopped := u.Status.State == v1alpha1.StateUpgradeFailed || u.Status.State == v1alpha1.StateUpgradeAborted
	switch {
	case u.Status.State == v1alpha1.StateUpgradeComplete:
		return "", fmt.Errorf("upgrade %s is complete: there is nothing to resume", u.Name)
	case u.Status.State == v1alpha1.StateUpgradeAborting || u.Spec.Abort && !stopped:
		return "", fmt.Errorf("upgrade %s is still being aborted: wait until it is (see `refit status`), then resume it", u.Name)
	case stopped:
		u.Spec.Resume = max(u.Spec.Resume, u.Status.Resumed) + 1
		u.Spec.Abort = false
		u.Spec.Paused = false
		return fmt.Sprintf("upgrade %s goes on from what the nodes run now", u.Name), nil
	case u.Spec.Paused:
		u.Spec.Paused = false
		return fmt.Sprintf("upgrade %s goes on", u.Name), nil
	}
	return fmt.Sprintf("upgrade %s is under way, not paused: nothing to resume", u.Name), nil
}
