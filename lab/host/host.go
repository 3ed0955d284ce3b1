package host

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/netip"
	"time"

	"refit.dev/refit/lab/engine"
	"refit.dev/refit/lab/image"
)

// Role is what a container of the lab is for.
type Role string

// The roles.
const (
	ControlPlane Role = "control-plane"
	Worker       Role = "worker"
	Registry     Role = "registry"
	LoadBalancer Role = "load-balancer"
)

// Host is one container of a lab. Its methods work whether it runs or not, where that makes sense.
type Host struct {
	// Name is the host's and the node's name, e.g. "cp-1".
	Name string
	// Container is the container's name, e.g. "refit-cp-1".
	Container string
	// Role is what it is for.
	Role Role
	// Index tells hosts apart, from 0; the addresses follow from it.
	Index int
	// Address is where it is in the lab's network, whatever is done to it.
	Address netip.Addr
}

// bootDeadline bounds the time from power on to a running containerd.
const bootDeadline = 90 * time.Second

// Exec runs a command on the host and returns its standard output; the error holds both streams' end.
func (h *Host) Exec(ctx context.Context, command ...string) (string, error) {
	return h.ExecWith(ctx, Execution{Command: command})
}

// Execution is a command to run on a host.
type Execution struct {
	Command []string
	// Stdin is fed to it; nil means nothing.
	Stdin io.Reader
	// Stdout receives its standard output as it comes; nil means only the returned text.
	Stdout io.Writer
	// Deadline bounds it; 0 means engine.DefaultDeadline.
	Deadline time.Duration
}

// ExecWith runs a command on the host and returns its standard output.
func (h *Host) ExecWith(ctx context.Context, e Execution) (string, error) {
	args := []string{"exec"}
	if e.Stdin != nil {
		args = append(args, "-i")
	}
	args = append(append(args, h.Container), e.Command...)
	out, err := engine.Do(ctx, engine.Call{Args: args, Stdin: e.Stdin, Stdout: e.Stdout, Deadline: e.Deadline})
	if err != nil {
		return out, fmt.Errorf("on host %s: %w", h.Name, err)
	}
	return out, nil
}

// Copy writes a file on the running host, with its folder where that is missing.
func (h *Host) Copy(ctx context.Context, path string, mode fs.FileMode, content io.Reader) error {
	script := `mkdir -p "$(dirname "$1")" && cat >"$1.new" && chmod "$2" "$1.new" && mv -f "$1.new" "$1"`
	_, err := h.ExecWith(ctx, Execution{Command: []string{"sh", "-c", script, "copy", path, fmt.Sprintf("%o", mode.Perm())},
		Stdin: content})
	return err
}

// unpack puts files on the host's disk while it is off.
func (h *Host) unpack(ctx context.Context, files []image.File) error {
	var text bytes.Buffer
	w := tar.NewWriter(&text)
	if err := errors.Join(image.WriteFiles(w, files), w.Close()); err != nil {
		return err
	}
	_, err := engine.Do(ctx, engine.Call{Args: []string{"cp", "-", h.Container + ":/"}, Stdin: &text})
	return err
}

// AwaitBoot waits until the host's network and containerd are up.
func (h *Host) AwaitBoot(ctx context.Context) error {
	// One question a unit: of several, is-active is content with one that is active.
	const script = "until systemctl is-active --quiet lab-network && systemctl is-active --quiet containerd; do sleep 0.2; done"
	_, err := h.ExecWith(ctx, Execution{Command: []string{"sh", "-c", script}, Deadline: bootDeadline})
	if err != nil {
		return fmt.Errorf("wait for systemd and containerd (look with: docker exec %s journalctl -b -n 50): %w", h.Container, err)
	}
	return nil
}

// Console is the end of what the host's first process printed, or why that cannot be seen.
func (h *Host) Console(ctx context.Context) string {
	out, err := engine.Combined(ctx, "logs", "--tail", "8", h.Container)
	if err != nil {
		return err.Error()
	}
	return out
}

// State is the container's state in Docker's words: running, exited, created.
func (h *Host) State(ctx context.Context) (string, error) {
	return engine.Output(ctx, "inspect", "--format", "{{.State.Status}}", h.Container)
}

// Answers asks, on the host itself, whether something accepts connections on the port.
func (h *Host) Answers(ctx context.Context, port int) error {
	_, err := h.Exec(ctx, "bash", "-c", fmt.Sprintf("exec 3<>/dev/tcp/127.0.0.1/%d", port))
	return err
}
