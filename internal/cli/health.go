package cli

import (
	"github.com/spf13/cobra"

	"refit.dev/refit/internal/cli/print"
	"refit.dev/refit/internal/gate"
	"refit.dev/refit/internal/version"
)

func newHealth(a *app) *cobra.Command {
	var output print.Format
	cmd := &cobra.Command{
		Use:   "health",
		Short: "Ask the gates how the cluster is",
		Long: `Ask the gates that would hold an upgrade up how the cluster is: nodes, control-plane pods, etcd, certificates, disk,
version skew, webhooks. The exit code is 3 where one is closed.`,
		Example: `  refit health
  refit health -o json`,
		Args: none,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.health(cmd, output) },
	}
	outputFlag(cmd, &output)
	return cmd
}

func (a *app) health(cmd *cobra.Command, output print.Format) error {
	ctx, cancel := a.bounded(cmd, defaultTimeout)
	defer cancel()
	c, err := a.connect()
	if err != nil {
		return err
	}
	seen, err := a.observation(ctx, c)
	if err != nil {
		return err
	}
	verdicts := gate.Present(seen, version.Lowest(seen), nil)
	unseen := markUnseen(seen, verdicts)
	if output.Machine() {
		err = output.Value(a.Out, verdicts)
	} else {
		err = gateTable(verdicts).Write(a.Out, output == print.Wide)
	}
	if err != nil {
		return err
	}
	if len(held(verdicts, unseen)) > 0 {
		return &exitError{code: ExitBlocked, err: &silentError{}}
	}
	return nil
}
