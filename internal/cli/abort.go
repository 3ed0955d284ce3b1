package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"refit.dev/refit/api/v1alpha1"
)

func newAbort(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "abort [UPGRADE]",
		Short: "End the upgrade at the next safe point",
		Long: `End the upgrade at the next safe point: nodes that have not been changed are left alone, those that are being changed
are finished, so that every node is whole. Nodes that are new stay new: the cluster is then between two versions, and
'refit status' and 'refit nodes' say which node runs what. 'refit resume' goes on later.`,
		Example:           `  refit abort`,
		ValidArgsFunction: a.completeOne(a.upgradeNames),
		Args:              cobra.MaximumNArgs(1),
		RunE:              func(cmd *cobra.Command, args []string) error { return a.control(cmd, first(args), abort) },
	}
}

func abort(_ context.Context, _ client.Client, u *v1alpha1.KubernetesUpgrade) (string, error) {
	switch {
	case u.Status.State == v1alpha1.StateUpgradeAborted && u.Finished():
		return "", fmt.Errorf("upgrade %s is aborted already", u.Name)
	case u.Finished():
		return "", errNoUpgrade
	case u.Spec.Abort:
		return fmt.Sprintf("upgrade %s is being aborted already: see `refit status`", u.Name), nil
	}
	u.Spec.Abort = true
	return fmt.Sprintf("upgrade %s ends at the next safe point of each node in flight: see `refit status`", u.Name), nil
}
