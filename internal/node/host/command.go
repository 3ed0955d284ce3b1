package host

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"
)

// Command is a program to run on the host.
type Command struct {
	// Program is its path, or a name to be found in the host's usual folders.
	Program string
	Args    []string
	// Env is added to a minimal environment.
	Env []string
	// Deadline ends it. It must be positive.
	Deadline time.Duration
	// Quiet keeps its output out of the log, for output that is data.
	Quiet bool
}

// searchPath are the folders that programs are looked for in, as root's shell does.
const searchPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// killDelay is how long a program may take to end once it was told to.
const killDelay = 10 * time.Second

// gistLines is how much of a failed program's output its error quotes.
const gistLines = 6

// Run runs a command to its end and returns its standard output. Its output is in the log; the error quotes the end of it.
func (h *Host) Run(ctx context.Context, c Command) ([]byte, error) {
	name := filepath.Base(c.Program)
	if c.Deadline <= 0 {
		return nil, fmt.Errorf("run %s: no deadline", name)
	}
	path, err := h.Find(c.Program)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, c.Deadline, fmt.Errorf("%s took longer than %s", name, c.Deadline))
	defer cancel()

	var stdout bytes.Buffer
	all := &output{}
	cmd := exec.CommandContext(ctx, h.Path(path), c.Args...)
	cmd.Env = append([]string{"PATH=" + searchPath, "HOME=/root", "LC_ALL=C"}, c.Env...)
	cmd.Dir = "/"
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = killDelay
	if !c.Quiet {
		h.Log.Say("run %s %s (at most %s)", path, strings.Join(c.Args, " "), c.Deadline)
		all.lines = h.Log.Lines(name + ": ")
	}
	cmd.Stdout, cmd.Stderr = io.MultiWriter(&stdout, all), all
	err = cmd.Run()
	all.flush()
	if err != nil {
		if ctx.Err() != nil {
			err = errors.Join(context.Cause(ctx), err)
		}
		return stdout.Bytes(), &CommandError{Name: name, Args: c.Args, Output: all.text.String(), Err: err}
	}
	return stdout.Bytes(), nil
}

// output gathers both streams of a program, which are written at the same time.
type output struct {
	mu    sync.Mutex
	text  bytes.Buffer
	lines *LineWriter
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	// Neither of these writers fails.
	text := plain(p)
	if o.lines != nil {
		_, _ = o.lines.Write(text)
	}
	_, _ = o.text.Write(text)
	return len(p), nil
}

func (o *output) flush() {
	if o.lines != nil {
		o.lines.Flush()
	}
}

// CommandError is the failure of a program.
type CommandError struct {
	Name   string
	Args   []string
	Output string
	Err    error
}

// Error quotes the end of what the program wrote.
func (e *CommandError) Error() string {
	subcommand := ""
	for _, a := range e.Args {
		if strings.HasPrefix(a, "-") {
			break
		}
		subcommand += " " + a
	}
	if said := gist(e.Output); said != "" {
		return fmt.Sprintf("%s%s: %v: %s", e.Name, subcommand, e.Err, said)
	}
	return fmt.Sprintf("%s%s: %v", e.Name, subcommand, e.Err)
}

// Unwrap is what the operating system said.
func (e *CommandError) Unwrap() error { return e.Err }

// gist is what a failed program said: its lines that name an error, or else its last ones.
func gist(output string) string {
	lines := strings.Split(strings.TrimSpace(output), "\n")
	var errs []string
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
		if lower := strings.ToLower(lines[i]); strings.HasPrefix(lower, "error") || strings.HasPrefix(lower, "[error") {
			errs = append(errs, lines[i])
		}
	}
	if len(errs) > 0 {
		lines = errs
	}
	if len(lines) > gistLines {
		lines = lines[len(lines)-gistLines:]
	}
	return strings.Join(lines, " | ")
}

// colours are the escape sequences that colour a terminal.
var colours = regexp.MustCompile("\x1b\\[[0-9;]*m")

func plain(text []byte) []byte { return colours.ReplaceAll(text, nil) }
