// Package engine talks to a Docker Engine through the docker command line, with a deadline on every call.
package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// DefaultDeadline bounds a call that names no deadline of its own.
const DefaultDeadline = 2 * time.Minute

// Call is one run of the docker command.
type Call struct {
	// Args follow the word docker.
	Args []string
	// Stdin is fed to the command; nil means nothing.
	Stdin io.Reader
	// Stdout receives what the command prints, beside the returned text; nil means only the returned text.
	Stdout io.Writer
	// Stderr receives what it prints on standard error; nil means only a failure's error holds it.
	Stderr io.Writer
	// Deadline bounds the call; 0 means DefaultDeadline.
	Deadline time.Duration
}

// Failure is a docker command that ran and ended with an error.
type Failure struct {
	// Args are the command's.
	Args []string
	// Code is the exit code, -1 where there was none.
	Code int
	// Output is the end of what it printed on both streams.
	Output string
}

func (f *Failure) Error() string {
	return fmt.Sprintf("docker %s: exit code %d: %s", summary(f.Args), f.Code, f.Output)
}

// Output runs docker with args and returns what it printed, without the last line break.
func Output(ctx context.Context, args ...string) (string, error) { return Do(ctx, Call{Args: args}) }

// Combined is Output with the end of both streams.
func Combined(ctx context.Context, args ...string) (string, error) {
	both := &ending{}
	_, err := Do(ctx, Call{Args: args, Stdout: both, Stderr: both})
	return both.String(), err
}

// Do makes the call and returns what it printed on standard output, without the last line break.
func Do(ctx context.Context, c Call) (string, error) {
	deadline := c.Deadline
	if deadline == 0 {
		deadline = DefaultDeadline
	}
	limited, cancel := context.WithTimeout(ctx, deadline)
	defer cancel()
	cmd := exec.CommandContext(limited, "docker", c.Args...)
	cmd.Stdin = c.Stdin
	cmd.WaitDelay = 5 * time.Second
	var out bytes.Buffer
	both := &ending{}
	cmd.Stdout = io.MultiWriter(writers(c.Stdout, &out, both)...)
	cmd.Stderr = io.MultiWriter(writers(c.Stderr, both)...)
	err := cmd.Run()
	text := strings.TrimRight(out.String(), "\n")
	var exit *exec.ExitError
	switch {
	case err == nil:
		return text, nil
	case ctx.Err() != nil:
		return text, fmt.Errorf("docker %s: %w", summary(c.Args), ctx.Err())
	case limited.Err() != nil:
		return text, fmt.Errorf("docker %s did not end within %s: %s", summary(c.Args), deadline, both.String())
	case errors.Is(err, exec.ErrNotFound):
		return text, fmt.Errorf("the lab runs its hosts as containers and found no docker command on the PATH; "+
			"install a Docker Engine (Debian: apt-get install docker.io) and try again: %w", err)
	case errors.As(err, &exit):
		return text, explain(&Failure{Args: c.Args, Code: exit.ExitCode(), Output: both.String()})
	}
	return text, fmt.Errorf("docker %s: %w", summary(c.Args), err)
}

func writers(maybe io.Writer, always ...io.Writer) []io.Writer {
	if maybe == nil {
		return always
	}
	return append(always, maybe)
}

// explain adds what to do where the Engine itself is the trouble.
func explain(f *Failure) error {
	switch text := strings.ToLower(f.Output); {
	case strings.Contains(text, "permission denied") && strings.Contains(text, "daemon socket"):
		return fmt.Errorf("this user may not talk to the Docker Engine; become root or join the group docker: %w", f)
	case strings.Contains(text, "cannot connect to the docker daemon"), strings.Contains(text, "error during connect"):
		return fmt.Errorf("no Docker Engine answers; start it (systemctl start docker, or dockerd &) or "+
			"point DOCKER_HOST at a running one: %w", f)
	}
	return f
}

// summary shortens a command line for a message: enough to know which call it was.
func summary(args []string) string {
	text := strings.Join(args, " ")
	if len(text) > 120 {
		return text[:120] + "…"
	}
	return text
}

// ending keeps the end of what both streams of a command print, each written by a goroutine of its own.
type ending struct {
	mu   sync.Mutex
	text []byte
}

const endingSize = 2000

func (e *ending) Write(p []byte) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.text = append(e.text, p...)
	if len(e.text) > endingSize {
		e.text = append([]byte("…"), e.text[len(e.text)-endingSize:]...)
	}
	return len(p), nil
}

func (e *ending) String() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return strings.TrimSpace(string(e.text))
}
