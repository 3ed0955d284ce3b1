package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"refit.dev/refit/api/v1alpha1"
)

func newAbort(a *app) *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use:   "abort [UPGRADE]",
		Short: "End the upgrade at the next safe point",
		Long: `End the upgrade at the next safe point: nodes that have not been changed are left alone, those that are being changed
are finished, so that every node is whole. Nodes that are new stay new: the cluster is then between two versions, and
'refit status' and 'refit nodes' say which node runs what. 'refit resume' goes on later.

On a terminal it asks first; --yes answers. Without one, as in a script, nothing is asked.`,
		Example: `  refit abort
  refit abort --yes
  refit abort && refit status --watch`,
		ValidArgsFunction: a.completeOne(a.upgradeNames),
		Args:              maybeUpgrade,
		RunE:              func(cmd *cobra.Command, args []string) error { return a.abort(cmd, first(args), yes) },
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	return cmd
}

func (a *app) abort(cmd *cobra.Command, name string, yes bool) error {
	if !yes && a.asks() {
		u, err := a.upgradeToAbort(cmd, name)
		if err != nil {
			return err
		}
		if u != nil {
			name = u.Name // what was asked about is what is aborted
			if err := a.ask(cmd.Context(), abortQuestion(u), "nothing was changed: the upgrade goes on as before"); err != nil {
				return err
			}
		}
	}
	return a.control(cmd, name, abort)
}

// upgradeToAbort is the upgrade that would be aborted, nil where there is nothing to ask a person about.
func (a *app) upgradeToAbort(cmd *cobra.Command, name string) (*v1alpha1.KubernetesUpgrade, error) {
	ctx, cancel := a.bounded(cmd, defaultTimeout)
	defer cancel()
	c, err := a.connect()
	if err != nil {
		return nil, err
	}
	u, err := findUpgrade(ctx, c, name)
	if err != nil || u == nil || u.Finished() || u.Spec.Abort {
		return nil, err
	}
	return u, nil
}

func abortQuestion(u *v1alpha1.KubernetesUpgrade) string {
	nodes := ""
	if text := countText(u.Status.Nodes); text != "" {
		nodes = ", " + text
	}
	return fmt.Sprintf("Abort upgrade %s to %s (%s%s)? Nodes in flight are finished, new ones stay new, the others old.",
		u.Name, u.Spec.ToVersion, stateOf(u), nodes)
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
	return fmt.Sprintf("upgrade %s ends at the next safe point of each node in flight: see `refit status`; `refit resume` goes on later", u.Name), nil
}
