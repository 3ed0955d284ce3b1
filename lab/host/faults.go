package host

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"refit.dev/refit/lab/engine"
)

// PowerCut switches the host off the hard way: no process gets a chance to end well.
func (h *Host) PowerCut(ctx context.Context) error {
	_, err := engine.Output(ctx, "kill", h.Container)
	return err
}

// PowerOn starts a host that is off. For a node, AwaitBoot says when it is up.
func (h *Host) PowerOn(ctx context.Context) error {
	_, err := engine.Output(ctx, "start", h.Container)
	return err
}

// shutdownTime is what a restart gives the services to end.
const shutdownTime = 30 * time.Second

// Restart shuts the host down as systemctl reboot does, and starts it again.
func (h *Host) Restart(ctx context.Context) error {
	_, err := engine.Do(ctx, engine.Call{Args: []string{"restart", "--time", fmt.Sprint(int(shutdownTime.Seconds())), h.Container},
		Deadline: shutdownTime + time.Minute})
	return err
}

// CutNetwork drops everything between the host and the addresses, or everything at all where none is given. It holds
// until RestoreNetwork or a restart. Pods of the host are cut off, too.
func (h *Host) CutNetwork(ctx context.Context, from ...netip.Addr) error {
	var rules []string
	for _, rule := range cutRules(from) {
		rules = append(rules, "iptables -w -t raw -C "+rule+" 2>/dev/null || iptables -w -t raw -I "+rule)
	}
	_, err := h.Exec(ctx, "sh", "-ec", strings.Join(rules, "\n"))
	return err
}

// RestoreNetwork undoes every CutNetwork.
func (h *Host) RestoreNetwork(ctx context.Context) error {
	_, err := h.Exec(ctx, "sh", "-ec", "iptables -w -t raw -F PREROUTING; iptables -w -t raw -F OUTPUT")
	return err
}

// cutRules are the packet filter's rules, in the one table that nothing else uses and that sees a packet first.
func cutRules(from []netip.Addr) []string {
	if len(from) == 0 {
		return []string{"PREROUTING -i eth0 -j DROP", "OUTPUT -o eth0 -j DROP"}
	}
	var rules []string
	for _, a := range from {
		rules = append(rules, "PREROUTING -s "+a.String()+" -j DROP", "PREROUTING -d "+a.String()+" -j DROP",
			"OUTPUT -d "+a.String()+" -j DROP")
	}
	return rules
}

// SlowNetwork limits what leaves the host to a rate in tc's words, such as "2mbit", until NormalNetwork or a restart.
func (h *Host) SlowNetwork(ctx context.Context, rate string) error {
	_, err := h.Exec(ctx, "tc", "qdisc", "replace", "dev", "eth0", "root", "tbf", "rate", rate, "burst", "32kbit", "latency", "400ms")
	return err
}

// NormalNetwork undoes SlowNetwork.
func (h *Host) NormalNetwork(ctx context.Context) error {
	_, err := h.Exec(ctx, "tc", "qdisc", "del", "dev", "eth0", "root")
	return err
}

// SmallDisk mounts an empty file system of the size (as mount takes it: "16m") over a folder, so that the folder is as
// good as full. What was in the folder comes back with NormalDisk or a restart.
func (h *Host) SmallDisk(ctx context.Context, folder, size string) error {
	_, err := h.Exec(ctx, "sh", "-ec", `mkdir -p "$1"; mount -t tmpfs -o "size=$2" lab-small-disk "$1"`, "small", folder, size)
	return err
}

// NormalDisk undoes SmallDisk.
func (h *Host) NormalDisk(ctx context.Context, folder string) error {
	_, err := h.Exec(ctx, "umount", folder)
	return err
}

// maxFill bounds FillDisk: the disk is the machine's own.
const maxFill = 8 << 30

// FillDisk takes bytes of the disk below a folder, at most 8 GiB, until FreeDisk.
func (h *Host) FillDisk(ctx context.Context, folder string, bytes int64) error {
	if bytes <= 0 || bytes > maxFill {
		return errors.New("the lab fills a disk with 1 byte to 8 GiB: the hosts' disks are this machine's own")
	}
	_, err := h.Exec(ctx, "fallocate", "-l", fmt.Sprint(bytes), fillFile(folder))
	return err
}

// FreeDisk undoes FillDisk.
func (h *Host) FreeDisk(ctx context.Context, folder string) error {
	_, err := h.Exec(ctx, "rm", "-f", fillFile(folder))
	return err
}

func fillFile(folder string) string { return strings.TrimSuffix(folder, "/") + "/.lab-fill" }
