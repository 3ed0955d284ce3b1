package parts

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// Prometheus is what health checks ask, and promtool, which checks its rules. They are Debian's build, need nothing but libc, and
// so run on this machine and on the lab's hosts.
func Prometheus() Part {
	programs := []string{"prometheus", "promtool"}
	return Part{Name: "prometheus", Version: "debian", Files: programs, Cost: 5 * time.Second,
		recipe: debianPackage{Package: "prometheus", Programs: programs}}
}

// debianPackage takes programs out of a Debian package, in the version that this machine's apt offers. It installs nothing, so
// no service starts and the package's dependencies stay away.
type debianPackage struct {
	Package string
	// Programs are files of the package's /usr/bin.
	Programs []string
}

func (d debianPackage) build(ctx context.Context, j *job) error {
	j.note("downloading Debian's package")
	if err := d.download(ctx, j); err != nil {
		return err
	}
	found, err := filepath.Glob(filepath.Join(j.work, "*.deb"))
	if err != nil {
		return err
	}
	if len(found) != 1 {
		return fmt.Errorf("apt-get download %s left %d packages, not 1", d.Package, len(found))
	}
	j.note("unpacking")
	root := filepath.Join(j.work, "root")
	if err := j.run(ctx, command{name: "dpkg-deb", args: []string{"-x", found[0], root}}); err != nil {
		return fmt.Errorf("unpack Debian's package %s: %w", d.Package, err)
	}
	for _, name := range d.Programs {
		if err := os.Rename(filepath.Join(root, "usr", "bin", name), filepath.Join(j.dir, name)); err != nil {
			return fmt.Errorf("take %s out of Debian's package %s: %w", name, d.Package, err)
		}
	}
	return nil
}

// download fetches the package. A new machine has no lists of packages, and one of long ago has lists of packages that are gone:
// then it fetches the lists, and tries again.
func (d debianPackage) download(ctx context.Context, j *job) error {
	fetch := command{name: "apt-get", args: []string{"download", d.Package}, dir: j.work}
	if err := j.run(ctx, fetch); err == nil || ctx.Err() != nil {
		return err
	}
	j.note("updating the lists of packages")
	if err := j.run(ctx, command{name: "apt-get", args: []string{"update"}}); err != nil {
		return fmt.Errorf("fetch Debian's lists of packages, without which there is no package %s (this needs Debian or Ubuntu, and root: "+
			"run sudo apt-get update): %w", d.Package, err)
	}
	j.note("downloading Debian's package")
	if err := j.run(ctx, fetch); err != nil {
		return fmt.Errorf("download Debian's package %s: %w", d.Package, err)
	}
	return nil
}
