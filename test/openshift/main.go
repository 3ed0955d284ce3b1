// Command openshift is a playground: an API server with OpenShift's kinds and Refit's, on which OpenShift's two operators are played.
// A person updates it with kubectl, and disturbs it from the terminal.
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
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"refit.dev/refit/internal/openshift/simulator"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdin, os.Stdout)
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(1)
	}
}

// run returns when the context or the input ends, or when it is told to quit; nothing is left running then.
func run(ctx context.Context, args []string, in io.Reader, out io.Writer) (err error) {
	log.SetLogger(logr.Discard())
	w := &lines{out: out, clock: clock.RealClock{}}
	s, err := parseSettings(args, out)
	if err != nil {
		return err
	}
	w.say("Starting kube-apiserver and etcd; this takes about ten seconds")
	c, err := start(ctx, s.kubeconfig, out)
	if err != nil {
		return w.unlessEnded(ctx, err)
	}
	defer func() { err = errors.Join(err, c.stop()) }()
	s.options.Report = w.change
	sim, err := simulator.NewForConfig(c.config, w.clock, s.options)
	if err != nil {
		return err
	}
	if err := sim.Seed(ctx); err != nil {
		return w.unlessEnded(ctx, err)
	}
	w.say("%s", introduction(s, c.kubectl))

	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- sim.Run(ctx) }()
	errConsole := (&console{sim: sim, config: c.config, lines: w}).serve(ctx, in)
	cancel()
	w.say("Stopping")
	return errors.Join(errConsole, <-ended)
}
