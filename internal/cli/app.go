// Package cli is the command line of Refit: each command a file, each only translating between a person and the
// objects in the cluster.
package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"
	"k8s.io/utils/clock"
)

// defaultTimeout bounds a command that neither waits nor carries much.
const defaultTimeout = time.Minute

// Streams are what the program reads and writes.
type Streams struct {
	In          io.Reader
	Out, ErrOut io.Writer
}

// app is what commands share.
type app struct {
	Streams
	config  *kubeconfig
	timeout time.Duration
	clock   clock.WithTicker
}

func newApp(streams Streams) *app {
	return &app{Streams: streams, config: newKubeconfig(), clock: clock.RealClock{}}
}

// bounded gives a command's context: --timeout, or else the command's own limit.
func (a *app) bounded(cmd *cobra.Command, limit time.Duration) (context.Context, context.CancelFunc) {
	if a.timeout > 0 {
		limit = a.timeout
	}
	return context.WithTimeout(cmd.Context(), limit)
}

// interactive says whether the output is a terminal that can be drawn on: one that knows its size, and how to move about.
func (a *app) interactive() bool {
	file, ok := a.Out.(*os.File)
	if !ok || os.Getenv("TERM") == "dumb" {
		return false
	}
	width, height, err := term.GetSize(int(file.Fd()))
	return err == nil && width > 0 && height > 0
}

// asks says whether a person can be asked.
func (a *app) asks() bool {
	in, ok := a.In.(*os.File)
	return ok && term.IsTerminal(int(in.Fd())) && isTerminal(a.ErrOut)
}

func isTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// say prints a line of output. Where nobody takes it any more, as behind a pipe that closed, there is nobody to tell.
func (a *app) say(format string, args ...any) {
	_, _ = fmt.Fprintf(a.Out, format+"\n", args...)
}

// note prints a line that is not output, for a person alone.
func (a *app) note(format string, args ...any) {
	_, _ = fmt.Fprintf(a.ErrOut, format+"\n", args...)
}
