package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"refit.dev/refit/api/v1alpha1"
)

func newPause(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "pause [UPGRADE]",
		Short: "Start nothing new; what is in flight is finished",
		Long: `Start nothing new. Nodes that are being upgraded are finished and put back into service, and the next one waits
until 'refit resume'.`,
		Example: `  refit pause
  refit resume`,
		ValidArgsFunction: a.completeOne(a.upgradeNames),
		Args:              maybeUpgrade,
		RunE:              func(cmd *cobra.Command, args []string) error { return a.control(cmd, first(args), pause) },
	}
}

func pause(_ context.Context, _ client.Client, u *v1alpha1.KubernetesUpgrade) (string, error) {
	switch {
	case u.Finished():
		return "", errNoUpgrade
	case u.Spec.Paused:
		return fmt.Sprintf("upgrade %s is paused already: `refit resume` goes on", u.Name), nil
	}
	u.Spec.Paused = true
	return fmt.Sprintf("upgrade %s is paused: nodes in flight are finished, nothing new starts; `refit resume` goes on", u.Name), nil
}
