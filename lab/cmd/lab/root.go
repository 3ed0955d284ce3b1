package main

import (
	"context"

	"github.com/spf13/cobra"

	"refit.dev/refit/lab"
)

// place says which lab a command is about.
type place struct{ name, dir string }

func (p *place) open(ctx context.Context) (*lab.Lab, error) { return lab.OpenIn(ctx, p.name, p.dir) }

func newRoot() *cobra.Command {
	at := &place{}
	root := &cobra.Command{Use: "lab", Short: "Real Kubernetes clusters on this machine, and the faults of real hosts",
		SilenceUsage: true, SilenceErrors: true}
	root.PersistentFlags().StringVar(&at.name, "name", lab.DefaultName, "which lab")
	root.PersistentFlags().StringVar(&at.dir, "dir", "", "the folder of the labs' files (default .lab in the source tree)")
	root.AddCommand(newUp(at), newDown(at), newStatus(at), newHost(at), newRegistry(at), newPublish(at), newBundle(at), newPush(at),
		newParts())
	return root
}
