package main

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"refit.dev/refit/lab/host"
)

// deed is something done to one host.
type deed struct {
	use, short string
	// more is how many arguments follow the host's name.
	more int
	do   func(ctx context.Context, h *host.Host, args []string) error
}

var deeds = []deed{
	{"power-cut HOST", "Switch a host off the hard way", 0,
		func(ctx context.Context, h *host.Host, _ []string) error { return h.PowerCut(ctx) }},
	{"power-on HOST", "Switch a host on", 0,
		func(ctx context.Context, h *host.Host, _ []string) error { return h.PowerOn(ctx) }},
	{"restart HOST", "Shut a host down and start it again", 0,
		func(ctx context.Context, h *host.Host, _ []string) error { return h.Restart(ctx) }},
	{"restore-network HOST", "Undo cut-network", 0,
		func(ctx context.Context, h *host.Host, _ []string) error { return h.RestoreNetwork(ctx) }},
	{"slow-network HOST RATE", "Limit what leaves a host, e.g. to 2mbit", 1,
		func(ctx context.Context, h *host.Host, args []string) error { return h.SlowNetwork(ctx, args[0]) }},
	{"normal-network HOST", "Undo slow-network", 0,
		func(ctx context.Context, h *host.Host, _ []string) error { return h.NormalNetwork(ctx) }},
	{"small-disk HOST FOLDER SIZE", "Mount an empty file system of the size, e.g. 16m, over a folder", 2,
		func(ctx context.Context, h *host.Host, args []string) error {
			return h.SmallDisk(ctx, args[0], args[1])
		}},
	{"normal-disk HOST FOLDER", "Undo small-disk", 1,
		func(ctx context.Context, h *host.Host, args []string) error { return h.NormalDisk(ctx, args[0]) }},
}

func newHost(at *place) *cobra.Command {
	c := &cobra.Command{Use: "host", Short: "Do to a host what happens to hosts",
		Long: "Hosts are the nodes (cp-1, worker-1, ...), registry and load-balancer."}
	for _, d := range deeds {
		c.AddCommand(&cobra.Command{Use: d.use, Short: d.short, Args: cobra.ExactArgs(1 + d.more),
			RunE: func(c *cobra.Command, args []string) error {
				return at.with(c.Context(), args[0], func(h *host.Host) error { return d.do(c.Context(), h, args[1:]) })
			}})
	}
	c.AddCommand(newCutNetwork(at), newExec(at), newCopy(at))
	return c
}

// with opens the lab and finds the host.
func (p *place) with(ctx context.Context, name string, do func(h *host.Host) error) error {
	l, err := p.open(ctx)
	if err != nil {
		return err
	}
	h, err := l.Host(name)
	if err != nil {
		return err
	}
	return do(h)
}

func newCutNetwork(at *place) *cobra.Command {
	var from []string
	c := &cobra.Command{Use: "cut-network HOST", Short: "Cut a host off, from everything or from some hosts", Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			l, err := at.open(c.Context())
			if err != nil {
				return err
			}
			h, err := l.Host(args[0])
			if err != nil {
				return err
			}
			var addresses []netip.Addr
			for _, name := range from {
				other, err := l.Host(name)
				if err != nil {
					return fmt.Errorf("--from: %w", err)
				}
				addresses = append(addresses, other.Address)
			}
			return h.CutNetwork(c.Context(), addresses...)
		}}
	c.Flags().StringSliceVar(&from, "from", nil, "only from these hosts, e.g. registry")
	return c
}

func newExec(at *place) *cobra.Command {
	var deadline time.Duration
	c := &cobra.Command{Use: "exec HOST -- COMMAND...", Short: "Run a command on a host", Args: cobra.MinimumNArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			return at.with(c.Context(), args[0], func(h *host.Host) error {
				_, err := h.ExecWith(c.Context(), host.Execution{Command: args[1:], Stdout: c.OutOrStdout(), Deadline: deadline})
				return err
			})
		}}
	c.Flags().DurationVar(&deadline, "deadline", 10*time.Minute, "how long it may take")
	return c
}

func newCopy(at *place) *cobra.Command {
	return &cobra.Command{Use: "copy FILE HOST:PATH", Short: "Copy a file of this machine to a host", Args: cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			name, path, found := strings.Cut(args[1], ":")
			if !found || !strings.HasPrefix(path, "/") {
				return fmt.Errorf("%q: want HOST:/PATH, e.g. worker-1:/tmp/file", args[1])
			}
			return at.with(c.Context(), name, func(h *host.Host) error { return copyFile(c.Context(), h, args[0], path) })
		}}
}

func copyFile(ctx context.Context, h *host.Host, source, target string) error {
	f, err := os.Open(source)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	return h.Copy(ctx, target, info.Mode(), f)
}

func newRegistry(at *place) *cobra.Command {
	c := &cobra.Command{Use: "registry", Short: "Stop, start and slow down the registry"}
	for _, d := range []deed{
		{"stop", "Stop the registry", 0, func(ctx context.Context, h *host.Host, _ []string) error { return h.PowerCut(ctx) }},
		{"start", "Start the registry", 0, func(ctx context.Context, h *host.Host, _ []string) error { return h.PowerOn(ctx) }},
		{"slow RATE", "Limit what the registry sends, e.g. to 2mbit", 1,
			func(ctx context.Context, h *host.Host, args []string) error { return h.SlowNetwork(ctx, args[0]) }},
		{"normal", "Undo slow", 0, func(ctx context.Context, h *host.Host, _ []string) error { return h.NormalNetwork(ctx) }},
	} {
		c.AddCommand(&cobra.Command{Use: d.use, Short: d.short, Args: cobra.ExactArgs(d.more),
			RunE: func(c *cobra.Command, args []string) error {
				return at.with(c.Context(), "registry", func(h *host.Host) error { return d.do(c.Context(), h, args) })
			}})
	}
	return c
}
