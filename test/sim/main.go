// Command sim upgrades a cluster of many nodes that are not there: kube-apiserver, etcd and the managers are real, the nodes and
// their Pods are played by kwok. It shows the rollout live, or, with --bench, measures what the manager costs.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	log.SetLogger(logr.Discard())
	s, err := parseSettings(args, out)
	if err != nil {
		return err
	}
	programs, err := findPrograms(ctx, s, out)
	if err != nil {
		return err
	}
	if s.bench {
		return bench(ctx, s, programs, out)
	}
	f, err := rollout(ctx, s, s.sizes[0], programs, out)
	if ctx.Err() != nil {
		fmt.Fprintln(out, "Broken off; nothing is left running.")
		return nil
	}
	if err != nil {
		return err
	}
	f.print(out)
	return nil
}
