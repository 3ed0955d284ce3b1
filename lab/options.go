// Package lab runs real Kubernetes clusters on one machine with a Docker Engine and nothing else: hosts are containers
// that boot systemd, every program is built from source or downloaded once, and nodes pull from the lab's own registry.
package lab

import (
	"errors"
	"fmt"
	"io"
	"regexp"

	"golang.org/x/mod/semver"

	"refit.dev/refit/lab/address"
	"refit.dev/refit/lab/kubeadm"
	"refit.dev/refit/lab/parts"
)

// Defaults of Options.
const (
	DefaultName    = "refit"
	DefaultVersion = "v1.35.4"
	// DefaultContainerd is older than what bundles carry, so that an upgrade has a runtime to upgrade.
	DefaultContainerd = "v2.2.8"
)

// Options say what lab to bring up.
type Options struct {
	// Name tells labs on one machine apart; empty means DefaultName.
	Name string
	// ControlPlanes is how many control planes it has, 1 to 7; 0 means 1.
	ControlPlanes int
	// Workers is how many workers it has. Without any, pods run on the control planes.
	Workers int
	// Version is the Kubernetes version; empty means DefaultVersion.
	Version string
	// Containerd is the version that hosts start with; empty means DefaultContainerd.
	Containerd string
	// Publish are further Kubernetes versions whose images go to the lab's registry while the cluster comes up.
	Publish []string
	// APIServerArgs and EtcdArgs are flags of the API servers and etcd, beyond what the lab sets.
	APIServerArgs, EtcdArgs []kubeadm.Argument
	// Dir is the folder for the lab's files, such as the kubeconfig; empty means .lab in the product's source tree, or
	// in the current folder outside of it.
	Dir string
	// Keep leaves a lab that did not come up as it is, for a look at it.
	Keep bool
	// Log receives what is being done; nil means nobody wants to know.
	Log io.Writer
}

var namePattern = regexp.MustCompile(`^[a-z]([a-z0-9-]{0,18}[a-z0-9])?$`)

// validName checks the name of a lab.
func validName(name string) error {
	if !namePattern.MatchString(name) {
		return fmt.Errorf("--name %q: a lab's name has 1 to 20 small letters, digits and dashes, and begins with a letter", name)
	}
	return nil
}

// complete fills in what is missing and checks the rest.
func (o Options) complete() (Options, error) {
	fill(&o.Name, DefaultName)
	fill(&o.Version, DefaultVersion)
	fill(&o.Containerd, DefaultContainerd)
	if o.ControlPlanes == 0 {
		o.ControlPlanes = 1
	}
	if o.Log == nil {
		o.Log = io.Discard
	}
	var err error
	if o.Dir == "" {
		o.Dir, err = defaultDir()
	}
	return o, errors.Join(err, o.check())
}

func fill(value *string, otherwise string) {
	if *value == "" {
		*value = otherwise
	}
}

// maxControlPlanes is where etcd's own advice ends.
const maxControlPlanes = 7

func (o Options) check() error {
	errs := []error{validName(o.Name)}
	if o.ControlPlanes < 1 || o.ControlPlanes > maxControlPlanes {
		errs = append(errs, fmt.Errorf("--control-planes %d: a lab has 1 to %d", o.ControlPlanes, maxControlPlanes))
	}
	if o.Workers < 0 || o.ControlPlanes+o.Workers > address.MaxHosts {
		errs = append(errs, fmt.Errorf("--workers %d: a lab has 0 to %d hosts in all", o.Workers, address.MaxHosts))
	}
	errs = append(errs, checkVersion("--version", o.Version))
	for _, v := range o.Publish {
		errs = append(errs, checkVersion("--publish", v))
	}
	if !semver.IsValid(o.Containerd) || semver.Major(o.Containerd) != "v2" {
		errs = append(errs, fmt.Errorf("--containerd %q: want a version of containerd 2, such as %s", o.Containerd, DefaultContainerd))
	}
	return errors.Join(errs...)
}

// checkVersion checks that the lab can build the Kubernetes version; the error names the flag.
func checkVersion(flag, version string) error {
	if !semver.IsValid(version) || semver.Canonical(version) != version {
		return fmt.Errorf("%s %q: want a Kubernetes version such as %s", flag, version, DefaultVersion)
	}
	if _, err := parts.ReleaseOf(version); err != nil {
		return fmt.Errorf("%s: %w", flag, err)
	}
	return nil
}
