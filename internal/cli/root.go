package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
)

const rootLong = `Refit upgrades Kubernetes clusters and the hosts under them in place.

A first upgrade:

  refit install                     bring Refit into the cluster
  refit bundle import IMAGE         make a Kubernetes version known
  refit plan v1.36.3                see what would happen, and what is in the way
  refit upgrade v1.36.3 --watch     do it

Exit codes:

`

// Run runs the command line and gives the exit code. args[0] is the program's name. SIGINT and SIGTERM end what it does.
func Run(ctx context.Context, args []string, streams Streams) int {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	root := newRoot(newApp(streams))
	if strings.HasPrefix(filepath.Base(args[0]), "kubectl-") {
		root.Annotations = map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl refit"}
	}
	root.SetArgs(args[1:])
	root.SetIn(streams.In)
	root.SetOut(streams.Out)
	root.SetErr(streams.ErrOut)
	return report(streams, root.ExecuteContext(ctx))
}

func report(streams Streams, err error) int {
	if err == nil {
		return ExitOK
	}
	var silent *silentError
	if !errors.As(err, &silent) {
		_, _ = fmt.Fprintf(streams.ErrOut, "Error: %v\n", explain(err))
	}
	return exitCode(err)
}

// silentError ends the program with a code and no message, where the output has said it all.
type silentError struct{}

func (*silentError) Error() string { return "see above" }

func newRoot(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:   "refit",
		Short: "Upgrade Kubernetes clusters in place",
		Long:  rootLong + indent(exitCodes),
		Example: `  refit versions
  refit plan v1.36.3
  refit status --watch`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          noSubcommand,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	a.config.addFlags(root.PersistentFlags())
	root.PersistentFlags().DurationVar(&a.timeout, "timeout", 0, "how long the command may take (default: as the command says)")
	for _, g := range groups {
		root.AddGroup(&cobra.Group{ID: g.id, Title: g.title})
		for _, command := range g.commands {
			child := command(a)
			child.GroupID = g.id
			root.AddCommand(child)
		}
	}
	root.AddCommand(newDocs(a), newExitCodes(a))
	root.SetFlagErrorFunc(wrongFlag)
	addBuiltin(root)
	checkArguments(root)
	return root
}

// parent makes a command that only holds others.
func parent(use, short string, children ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{
		Use:   use,
		Short: short,
		Args:  noSubcommand,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(children...)
	return cmd
}

func indent(text string) string {
	return "  " + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n  ")
}
