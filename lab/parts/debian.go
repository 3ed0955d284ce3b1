package parts

import (
	"context"
	"os"
	"path/filepath"
	"strings"
)

// hostPackages are what a host has beyond the smallest Debian: systemd, and what kubeadm, the kubelet, kube-proxy and the
// lab's load balancer need; curl is for the image of hooks, and ssh for what people type on a machine.
var hostPackages = []string{"systemd", "systemd-sysv", "dbus", "iproute2", "iptables", "kmod", "procps", "ethtool",
	"conntrack", "socat", "ca-certificates", "libseccomp2", "haproxy", "e2fsprogs", "curl",
	"openssh-server", "openssh-client"}

// debian makes a root file system with debootstrap, as a tar.
type debian struct {
	Suite    string
	Packages []string
}

func (d debian) build(ctx context.Context, j *job) error {
	root := filepath.Join(j.work, "root")
	j.note("installing Debian " + d.Suite)
	args := []string{"--variant=minbase", "--include=" + strings.Join(d.Packages, ","), d.Suite, root}
	if mirror := os.Getenv("REFIT_DEBIAN_MIRROR"); mirror != "" {
		args = append(args, mirror)
	}
	if err := j.run(ctx, command{name: "debootstrap", args: args}); err != nil {
		return err
	}
	for _, glob := range []string{"var/cache/apt/archives/*.deb", "var/lib/apt/lists/*", "usr/share/doc/*", "usr/share/man/*",
		"usr/share/locale/*", "var/log/*.log"} {
		found, err := filepath.Glob(filepath.Join(root, glob))
		if err != nil {
			return err
		}
		for _, f := range found {
			if err := os.RemoveAll(f); err != nil {
				return err
			}
		}
	}
	j.note("packing the root file system")
	return j.run(ctx, command{name: "tar", args: []string{"-C", root, "--numeric-owner", "--exclude=./dev/*", "-cf",
		filepath.Join(j.dir, "rootfs.tar"), "."}})
}
