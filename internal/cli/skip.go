package cli

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/observe"
)

func newSkip(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "skip NODE",
		Short: "Leave a worker as it is: the upgrade goes on without it",
		Long: `Leave a worker as it is. It is not begun any more, its failure does not count, and the upgrade is complete without it.
What was begun on it is finished. An upgrade that stopped because of the node goes on with 'refit resume'. Later, another
'refit upgrade' to the same version brings the node there.`,
		Example: `  refit skip worker-7
  refit skip worker-7 && refit resume`,
		ValidArgsFunction: a.completeOne(a.nodeNames),
		Args:              oneNode,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.control(cmd, "", func(ctx context.Context, c client.Client, u *v1alpha1.KubernetesUpgrade) (string, error) {
				return skip(ctx, c, u, args[0])
			})
		},
	}
}

func skip(ctx context.Context, c client.Client, u *v1alpha1.KubernetesUpgrade, node string) (string, error) {
	n, err := findNode(ctx, c, node)
	if err != nil {
		if _, was := latestOf(ctx, c, node); was == nil {
			return "", goneOr(err, node)
		}
		return "", err
	}
	_, controlPlane := n.Labels[observe.LabelControlPlane]
	switch {
	case controlPlane:
		return "", fmt.Errorf("%s is a control plane, and those cannot be left out: `refit abort` ends the upgrade", node)
	case u.Finished():
		return "", fmt.Errorf("upgrade %s has ended: there is nothing to leave out", u.Name)
	case slices.Contains(u.Spec.Skip, node):
		return fmt.Sprintf("%s is left out already", node), nil
	}
	u.Spec.Skip = append(u.Spec.Skip, node)
	text := fmt.Sprintf("%s is left as it is", node)
	if u.Status.State == v1alpha1.StateUpgradeFailed {
		text += "; `refit resume` goes on without it"
	}
	return text, nil
}
