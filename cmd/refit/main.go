// Refit's command line, also as the kubectl plugin kubectl-refit.
package main

import (
	"context"
	"os"

	"refit.dev/refit/internal/cli"
)

func main() {
	os.Exit(cli.Run(context.Background(), os.Args, cli.Streams{In: os.Stdin, Out: os.Stdout, ErrOut: os.Stderr}))
}
