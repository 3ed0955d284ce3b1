// Package command is the command line of refit-node.
package command

import (
	"context"
	"errors"
	"io"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"refit.dev/refit/internal/node/spec"
)

const long = `refit-node runs the steps of a node's upgrade.

In a container of an upgrader Pod:
  refit-node step NAME   runs a step; REFIT_NODE_SPEC says of which node and to which version
  refit-node report      sums up what the upgrade did on the node

On the host, by the units that those containers start:
  refit-node run NAME    runs a step of an upgrade that a container has prepared
  refit-node resume      goes on with the step that a power cut interrupted

Exit codes: 0 done, 1 failed and may be tried again, 10 refused (a person must see to it), 11 the drain's time is over,
12 the old program was put back; any other: interrupted.`

// Main runs refit-node and returns its exit code.
func Main(args []string, out, errOut io.Writer) int {
	// systemd and the kubelet both ask with SIGTERM. On the host, a step that is asked to end leaves it as it is, to go on later; in a
	// container, a step that the host is at is waited for.
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	code := 0
	root := &cobra.Command{Use: "refit-node", Short: "Run the steps of a node's upgrade", Long: long, SilenceUsage: true, SilenceErrors: true}
	root.SetArgs(args)
	root.SetOut(out)
	root.SetErr(errOut)
	root.CompletionOptions.DisableDefaultCmd = true
	root.AddCommand(stepCommand(&code), runCommand(&code), resumeCommand(), reportCommand())
	if err := root.ExecuteContext(ctx); err != nil {
		root.PrintErrln("refit-node:", err)
		return int(spec.ExitFailed)
	}
	return code
}

// errEnded is what a signal to end is seen as.
var errEnded = errors.New("told to end")
