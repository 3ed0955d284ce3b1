package host

import (
	"context"
	"fmt"

	"refit.dev/refit/lab/engine"
	"refit.dev/refit/lab/image"
)

// Labels on every object that a lab makes in the Engine.
const (
	LabelLab     = "refit.lab"
	LabelRole    = "refit.lab.role"
	LabelHost    = "refit.lab.host"
	LabelIndex   = "refit.lab.index"
	LabelVersion = "refit.lab.version"
	// LabelPort, a dot and a port of the container is the label with the port on the machine.
	LabelPort = "refit.lab.port"
)

// Creation is a container to make.
type Creation struct {
	// Lab is the lab's name.
	Lab string
	// Image is what it runs.
	Image string
	// Network is the Docker network.
	Network string
	// Version goes into a label.
	Version string
	// Ports are published on the machine's loopback address: the container's port, and where.
	Ports map[int]int
	// Data is the folder that a volume of its own is mounted on; empty means none.
	Data string
	// Flags are more docker create flags.
	Flags []string
	// Command is what runs.
	Command []string
	// Files are put on its disk before it starts.
	Files []image.File
}

// Create makes the host's container and its volume and leaves it switched off.
func (h *Host) Create(ctx context.Context, c Creation) error {
	labels := []string{"--label", LabelLab + "=" + c.Lab, "--label", LabelHost + "=" + h.Name}
	args := append([]string{"create", "--name", h.Container, "--hostname", h.Name, "--network", c.Network,
		"--ip", h.Address.String(), "--label", LabelRole + "=" + string(h.Role), "--label", LabelVersion + "=" + c.Version,
		"--label", fmt.Sprintf("%s=%d", LabelIndex, h.Index)}, labels...)
	for port, at := range c.Ports {
		args = append(args, "--publish", fmt.Sprintf("127.0.0.1:%d:%d", at, port), "--label", fmt.Sprintf("%s.%d=%d", LabelPort, port, at))
	}
	if c.Data != "" {
		volume := append(append([]string{"volume", "create"}, labels...), h.Container)
		if _, err := engine.Output(ctx, volume...); err != nil {
			return fmt.Errorf("make the disk of %s: %w", h.Name, err)
		}
		args = append(args, "--volume", h.Container+":"+c.Data)
	}
	args = append(append(append(args, c.Flags...), c.Image), c.Command...)
	if _, err := engine.Output(ctx, args...); err != nil {
		return fmt.Errorf("make host %s: %w", h.Name, err)
	}
	if err := h.unpack(ctx, c.Files); err != nil {
		return fmt.Errorf("write the files of host %s: %w", h.Name, err)
	}
	return nil
}

// MachineFlags are the flags of a container that boots as a machine does.
func MachineFlags(rights engine.Rights) []string {
	return append(rights.Flags(), "--cgroupns=private", "--tmpfs", "/run:exec,mode=755", "--tmpfs", "/tmp:exec,mode=1777",
		"--stop-signal", "SIGRTMIN+3", "--sysctl", "net.ipv4.ip_forward=1")
}

// MachineCommand boots it.
var MachineCommand = []string{"/usr/local/sbin/lab-init"}
