package parts

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

// commandDeadline bounds every program that a build runs.
const commandDeadline = 40 * time.Minute

// command is a program to run.
type command struct {
	name   string
	args   []string
	dir    string
	env    []string
	stdin  io.Reader
	stdout io.Writer
	stderr io.Writer
}

// runLogged executes c; what it prints goes to log, and the last lines of that into the error.
func runLogged(ctx context.Context, c command, log io.Writer) error {
	ctx, cancel := context.WithTimeout(ctx, commandDeadline)
	defer cancel()
	fmt.Fprintf(log, "+ %s %s\n", c.name, strings.Join(c.args, " "))
	last := &tail{}
	cmd := exec.CommandContext(ctx, c.name, c.args...)
	cmd.Dir = c.dir
	cmd.Env = append(os.Environ(), c.env...)
	cmd.Stdin = c.stdin
	cmd.WaitDelay = 10 * time.Second
	cmd.Stdout = fanOut(c.stdout, log, last)
	cmd.Stderr = fanOut(c.stderr, log, last)
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s %s: %w\n%s", c.name, first(c.args), err, last)
	}
	return nil
}

func fanOut(own io.Writer, log io.Writer, last *tail) io.Writer {
	if own == nil {
		return io.MultiWriter(log, last)
	}
	return io.MultiWriter(own, log, last)
}

func first(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}

// tail keeps the end of what is written to it.
type tail struct{ text []byte }

const tailSize = 2000

func (t *tail) Write(p []byte) (int, error) {
	t.text = append(t.text, p...)
	if len(t.text) > tailSize {
		t.text = t.text[len(t.text)-tailSize:]
	}
	return len(p), nil
}

func (t *tail) String() string { return strings.TrimSpace(string(t.text)) }
