package engine

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/mod/semver"
)

// capabilityNames are the kernel's capabilities, by number.
var capabilityNames = []string{"CHOWN", "DAC_OVERRIDE", "DAC_READ_SEARCH", "FOWNER", "FSETID", "KILL", "SETGID", "SETUID",
	"SETPCAP", "LINUX_IMMUTABLE", "NET_BIND_SERVICE", "NET_BROADCAST", "NET_ADMIN", "NET_RAW", "IPC_LOCK", "IPC_OWNER",
	"SYS_MODULE", "SYS_RAWIO", "SYS_CHROOT", "SYS_PTRACE", "SYS_PACCT", "SYS_ADMIN", "SYS_BOOT", "SYS_NICE", "SYS_RESOURCE",
	"SYS_TIME", "SYS_TTY_CONFIG", "MKNOD", "LEASE", "AUDIT_WRITE", "AUDIT_CONTROL", "SETFCAP", "MAC_OVERRIDE", "MAC_ADMIN",
	"SYSLOG", "WAKE_ALARM", "BLOCK_SUSPEND", "AUDIT_READ", "PERFMON", "BPF", "CHECKPOINT_RESTORE"}

// neededCapabilities are what a host cannot do without: mounts, networks, other namespaces, devices.
var neededCapabilities = []string{"SYS_ADMIN", "NET_ADMIN", "SYS_CHROOT", "SYS_PTRACE", "MKNOD", "SETPCAP", "DAC_OVERRIDE"}

// Rights is what containers of this Engine may be given.
type Rights struct {
	// Known is false where the Engine's own rights cannot be seen (it runs elsewhere); then all are assumed.
	Known bool
	// Capabilities are the names to pass with --cap-add.
	Capabilities []string
}

// Has says whether containers can have the capability.
func (r Rights) Has(name string) bool {
	if !r.Known {
		return true
	}
	for _, c := range r.Capabilities {
		if c == name {
			return true
		}
	}
	return false
}

// Flags are the docker run flags that give a container every right there is to give. An Engine whose own bounding set
// is short of a capability cannot start --privileged containers, so each capability is asked for by its name.
func (r Rights) Flags() []string {
	if !r.Known {
		return []string{"--privileged"}
	}
	flags := []string{"--security-opt", "seccomp=unconfined", "--security-opt", "apparmor=unconfined",
		"--security-opt", "systempaths=unconfined", "--device-cgroup-rule", "a *:* rwm"}
	for _, c := range r.Capabilities {
		flags = append(flags, "--cap-add", c)
	}
	for _, device := range []string{"/dev/kmsg", "/dev/fuse"} {
		if _, err := os.Stat(device); err == nil {
			flags = append(flags, "--device", device)
		}
	}
	return flags
}

// Check makes sure that an Engine answers and can run hosts, and returns the rights that hosts can have.
func Check(ctx context.Context) (Rights, error) {
	version, err := Output(ctx, "version", "--format", "{{.Server.Version}}")
	if err != nil {
		return Rights{}, err
	}
	bounding, found := daemonBoundingSet("/proc")
	if !found {
		return Rights{}, nil
	}
	rights := Rights{Known: true, Capabilities: grantable(bounding, version)}
	for _, name := range neededCapabilities {
		if !rights.Has(name) {
			return Rights{}, fmt.Errorf("the Docker Engine lacks the capability CAP_%s, so it cannot run the lab's hosts; "+
				"start dockerd as root with it (in a container: --privileged or --cap-add %s), or use a virtual machine", name, name)
		}
	}
	return rights, nil
}

// grantable lists the capabilities in the bounding set that this version of the Engine has a name for.
func grantable(bounding uint64, version string) []string {
	var names []string
	for bit, name := range capabilityNames {
		if bounding&(1<<bit) == 0 {
			continue
		}
		if isNew := bit >= 38; isNew && semver.Compare("v"+majorMinor(version), "v23.0") < 0 {
			continue // Engines before 23 refuse these names
		}
		names = append(names, name)
	}
	return names
}

// majorMinor keeps the numbers of versions such as "20.10.24+dfsg1", without leading zeros that semver refuses.
func majorMinor(version string) string {
	parts := strings.SplitN(version, ".", 3)
	if len(parts) < 2 {
		return version
	}
	minor := strings.TrimLeft(parts[1], "0")
	if minor == "" {
		minor = "0"
	}
	return parts[0] + "." + minor
}

// daemonBoundingSet finds the running dockerd below proc and reads the capabilities it can pass on.
func daemonBoundingSet(proc string) (uint64, bool) {
	found, err := filepath.Glob(filepath.Join(proc, "[0-9]*", "comm"))
	if err != nil {
		return 0, false
	}
	for _, comm := range found {
		name, err := os.ReadFile(comm)
		if err != nil || strings.TrimSpace(string(name)) != "dockerd" {
			continue
		}
		status, err := os.ReadFile(filepath.Join(filepath.Dir(comm), "status"))
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(status)) {
			if hex, ok := strings.CutPrefix(line, "CapBnd:"); ok {
				set, err := strconv.ParseUint(strings.TrimSpace(hex), 16, 64)
				return set, err == nil
			}
		}
	}
	return 0, false
}
