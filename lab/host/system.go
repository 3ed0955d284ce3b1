// Package host runs the lab's hosts: containers that boot systemd, with containerd and the kubelet as their units, and
// every fault that can be done to a real machine.
package host

import (
	"archive/tar"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"refit.dev/refit/lab/engine"
	"refit.dev/refit/lab/image"
	"refit.dev/refit/lab/parts"
)

//go:embed files
var files embed.FS

// System is what hosts are made of: the Kubernetes version and the runtime on their disk.
type System struct {
	// Version is the Kubernetes version.
	Version string
	// Containerd is the containerd version.
	Containerd string
}

// Parts are the parts that the system needs.
func (s System) Parts() []parts.Part {
	return []parts.Part{parts.RootFS(), parts.Runc(parts.RuncVersion), parts.CNI(parts.CNIVersion),
		parts.Containerd(s.Containerd), parts.Registry(), parts.Kubernetes(s.Version)}
}

// importDeadline bounds the import of a host's image; it is half a gigabyte.
const importDeadline = 5 * time.Minute

// EnsureImage imports the image of the system's hosts unless the Engine has it, and returns its name.
func (s System) EnsureImage(ctx context.Context, store *parts.Store) (string, error) {
	wanted, err := s.layout(store)
	if err != nil {
		return "", err
	}
	name := "refit.lab/host:" + s.Version + "-" + digest(store, wanted)
	if _, err := engine.Output(ctx, "image", "inspect", "--format", "{{.Id}}", name); err == nil {
		return name, nil
	}
	r, w := io.Pipe()
	go func() { w.CloseWithError(writeSystem(w, store.Path(parts.RootFS(), "rootfs.tar"), wanted)) }()
	_, err = engine.Do(ctx, engine.Call{Args: []string{"import", "-c", "LABEL refit.lab.image=host", "-", name},
		Stdin: r, Deadline: importDeadline})
	// Ends the packing where docker stopped reading.
	if closeErr := r.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return "", fmt.Errorf("import the hosts' image: %w", err)
	}
	return name, nil
}

// replaced are files of the root file system that the lab's take the place of. A machine id in the image would be the
// same on every host; an empty one is filled in when the host boots.
var replaced = map[string]bool{"etc/machine-id": true, "var/lib/dbus/machine-id": true}

func writeSystem(w io.Writer, rootfs string, added []image.File) error {
	archive := tar.NewWriter(w)
	err := image.CopyArchive(archive, rootfs, func(file string) bool { return !replaced[file] })
	return errors.Join(err, image.WriteFiles(archive, added), archive.Close())
}

// digest tells apart images of the same version with other contents.
func digest(store *parts.Store, layout []image.File) string {
	sum := sha256.New()
	fmt.Fprintln(sum, store.Dir(parts.RootFS()))
	for _, f := range layout {
		fmt.Fprintln(sum, f.Path, f.Source, f.Link, f.Mode, f.Content)
	}
	return hex.EncodeToString(sum.Sum(nil))[:12]
}

// layout is everything on a host's disk beyond Debian.
func (s System) layout(store *parts.Store) ([]image.File, error) {
	var all []image.File
	for _, group := range []struct {
		part parts.Part
		dir  string
		only []string
	}{
		{parts.Kubernetes(s.Version), "usr/bin", []string{"kubeadm", "kubelet", "kubectl"}},
		{parts.Containerd(s.Containerd), "usr/local/bin", nil},
		{parts.Registry(), "usr/local/bin", nil},
		{parts.Runc(parts.RuncVersion), "usr/local/sbin", nil},
		{parts.CNI(parts.CNIVersion), "opt/cni/bin", nil},
	} {
		names := group.only
		if names == nil {
			names = group.part.Files
		}
		for _, name := range names {
			all = append(all, image.File{Path: path.Join(group.dir, name), Source: store.Path(group.part, name)})
		}
	}
	units, err := unitFiles()
	all = append(all, units...)
	// The same system is the same image: its name is worked out from the files in their order.
	slices.SortFunc(all, func(a, b image.File) int { return strings.Compare(a.Path, b.Path) })
	return all, err
}

// unitFiles are the units that make a Debian a node, and links that enable them or keep others from starting.
func unitFiles() ([]image.File, error) {
	const units = "etc/systemd/system/"
	all := []image.File{
		{Path: "etc/machine-id", Mode: 0o644},
		{Path: "var/log/journal/.keep", Mode: 0o644}, // a journal that outlives a power cut
		{Path: units + "default.target", Link: "/usr/lib/systemd/system/multi-user.target"},
	}
	for name, target := range map[string]struct {
		path string
		mode fs.FileMode
	}{
		"lab-init":            {"usr/local/sbin/lab-init", 0o755},
		"lab-network.service": {units + "lab-network.service", 0o644},
		"containerd.service":  {units + "containerd.service", 0o644},
		"kubelet.service":     {units + "kubelet.service", 0o644},
		"10-kubeadm.conf":     {units + "kubelet.service.d/10-kubeadm.conf", 0o644},
	} {
		text, err := files.ReadFile("files/" + name)
		if err != nil {
			return nil, err
		}
		all = append(all, image.File{Path: target.path, Content: string(text), Mode: target.mode})
	}
	for _, unit := range []string{"lab-network.service", "containerd.service", "kubelet.service"} {
		all = append(all, image.File{Path: units + "multi-user.target.wants/" + unit, Link: "/" + units + unit})
	}
	// haproxy runs in a container of its own, and whoever wants ssh starts it.
	for _, unit := range strings.Fields("haproxy.service ssh.service apt-daily.timer apt-daily-upgrade.timer dpkg-db-backup.timer " +
		"e2scrub_all.timer e2scrub_reap.service fstrim.timer logrotate.timer getty.target console-getty.service " +
		"systemd-udevd.service systemd-udev-trigger.service systemd-firstboot.service") {
		all = append(all, image.File{Path: units + unit, Link: "/dev/null"})
	}
	return all, nil
}
