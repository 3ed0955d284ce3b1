package programs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"regexp"
	"strings"
	"time"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/node/cri"
	"refit.dev/refit/internal/node/host"
	"refit.dev/refit/internal/node/task"
)

// containerdUp bounds the wait for the runtime to answer after its restart.
const containerdUp = 90 * time.Second

// Containerd replaces the container runtime. Containers keep running: their shims hold them.
type Containerd struct{ *task.Task }

// Name is the step's.
func (Containerd) Name() string { return string(v1alpha1.StepContainerd) }

// Deadline bounds the step.
func (c Containerd) Deadline() time.Duration { return c.Spec.Deadline(v1alpha1.StepContainerd) }

// Done compares the programs, and sees whether the one that runs is the one on disk.
func (c Containerd) Done(ctx context.Context) (bool, string, error) {
	set, daemon, err := c.set(ctx)
	if err != nil {
		return false, "", err
	}
	missing, err := set.Missing()
	if err != nil {
		return false, "", err
	}
	if len(missing) > 0 {
		return false, "differs from the bundle: " + strings.Join(missing, ", "), nil
	}
	if why := c.runs(ctx, daemon); why != "" {
		return false, why, nil
	}
	return true, fmt.Sprintf("containerd %s and runc %s run from %s",
		c.Bundle.Component("containerd"), c.Bundle.Component("runc"), path.Dir(daemon)), nil
}

// Run replaces the programs and restarts the service.
func (c Containerd) Run(ctx context.Context) (string, error) {
	set, daemon, err := c.set(ctx)
	if err != nil {
		return "", err
	}
	message, err := set.Replace(ctx)
	if err != nil {
		return "", err
	}
	return message + " and restarted containerd", c.restart(ctx, daemon)
}

// Undo puts the old programs back.
func (c Containerd) Undo(ctx context.Context) (bool, string, error) {
	set, daemon, err := c.set(ctx)
	if err != nil {
		return false, "", err
	}
	changed, err := set.PutBack()
	if err != nil || !changed {
		return changed, "", err
	}
	return true, "The old containerd was put back and runs", c.restart(ctx, daemon)
}

func (c Containerd) restart(ctx context.Context, daemon string) error {
	if err := c.Systemd.Restart(ctx, host.ContainerdUnit); err != nil {
		return err
	}
	return c.Wait(ctx, "containerd to answer", time.Second, containerdUp, func(ctx context.Context) string { return c.runs(ctx, daemon) })
}

// runs says what keeps the installed containerd from being the one that answers.
func (c Containerd) runs(ctx context.Context, daemon string) string {
	state, err := c.Systemd.State(ctx, host.ContainerdUnit)
	if err != nil {
		return err.Error()
	}
	if state.Active != "active" || state.MainPID == 0 {
		return fmt.Sprintf("containerd.service is %s (%s)", state.Active, state.Result)
	}
	running, err := host.ProcessProgram(c.Root, state.MainPID)
	if err != nil {
		return err.Error()
	}
	if strings.HasSuffix(running, " (deleted)") {
		return "the containerd that runs is not the one on disk any more, " + daemon
	}
	err = c.WithCRI(func(client *cri.Client) error {
		ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
		return client.Ready(ctx)
	})
	if err != nil {
		return err.Error()
	}
	return ""
}

func (c Containerd) set(ctx context.Context) (Set, string, error) {
	daemon, err := c.ServiceProgram(ctx, host.ContainerdUnit)
	if err != nil {
		return Set{}, "", err
	}
	runc, err := c.runc(daemon)
	if err != nil {
		return Set{}, "", err
	}
	return Set{Task: c.Task, Group: "containerd", Items: []Item{
		{File: "bin/containerd", Target: daemon, VersionArgs: []string{"--version"}},
		{File: "bin/containerd-shim-runc-v2", Target: c.Beside(daemon, "containerd-shim-runc-v2"), VersionArgs: []string{"-v"}},
		{File: "bin/ctr", Target: c.Beside(daemon, "ctr"), VersionArgs: []string{"--version"}},
		{File: "bin/runc", Target: runc, VersionArgs: []string{"--version"}},
	}}, daemon, nil
}

const containerdConfig = "/etc/containerd/config.toml"

var (
	binaryName = regexp.MustCompile(`(?m)^\s*BinaryName\s*=\s*["']([^"']+)["']`)
	binDir     = regexp.MustCompile(`(?m)^\s*bin_dir\s*=\s*["']([^"']+)["']`)
	binDirs    = regexp.MustCompile(`(?m)^\s*bin_dirs\s*=\s*\[\s*["']([^"']+)["']`)
)

// runc is the program that containerd's settings name, or the one on the host's path.
func (c Containerd) runc(daemon string) (string, error) {
	settings, err := containerdSettings(c.Task)
	if err != nil {
		return "", err
	}
	if m := binaryName.FindStringSubmatch(settings); m != nil && path.IsAbs(m[1]) && path.Base(m[1]) == "runc" {
		return m[1], nil
	}
	if found, err := c.Find("runc"); err == nil {
		return found, nil
	}
	return c.Beside(daemon, "runc"), nil
}

func containerdSettings(t *task.Task) (string, error) {
	content, err := os.ReadFile(t.Path(containerdConfig))
	if errors.Is(err, os.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read containerd's settings: %w", err)
	}
	return string(content), nil
}
