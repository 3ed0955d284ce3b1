package lab

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"refit.dev/refit/lab/parts"
)

// BundleOptions say how a bundle is built.
type BundleOptions struct {
	// Programs is the folder with the product's refit and refit-node; empty means bin in the source tree.
	Programs string
	// Args are more flags of `refit bundle build`.
	Args []string
	// Log receives what is being done; nil means nobody wants to know.
	Log io.Writer
}

// bundleDeadline bounds `refit bundle build`.
const bundleDeadline = 5 * time.Minute

// BundleName is what nodes call the bundle of a version.
func BundleName(version string) string { return "refit.dev/bundle:" + version }

// PublishBundle builds the bundle of a Kubernetes version from the lab's parts, with the product's own
// `refit bundle build`, and pushes it to the lab's registry.
func (l *Lab) PublishBundle(ctx context.Context, version string, o BundleOptions) (err error) {
	if err := checkVersion("--version", version); err != nil {
		return err
	}
	if o.Log == nil {
		o.Log = io.Discard
	}
	if o.Programs == "" {
		root, found, err := sourceTree()
		if err != nil {
			return err
		}
		if !found {
			return errors.New("run this in the product's source tree, or name the folder of refit and refit-node with --programs")
		}
		o.Programs = filepath.Join(root, "bin")
	}
	dir, err := os.MkdirTemp("", "refit-bundle-*")
	if err != nil {
		return fmt.Errorf("make a folder for the bundle: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := CollectBundle(ctx, version, dir, o.Log); err != nil {
		return err
	}
	return l.buildBundle(ctx, version, dir, o)
}

// CollectBundle fills dir with the programs of a version's bundle (bin/ and cni/), building what is missing.
func CollectBundle(ctx context.Context, version, dir string, log io.Writer) error {
	release, err := parts.ReleaseOf(version)
	if err != nil {
		return err
	}
	store, err := parts.OpenStore()
	if err != nil {
		return err
	}
	if err := store.Build(ctx, log, parts.Bundle(release)...); err != nil {
		return fmt.Errorf("build the parts of the bundle %s: %w", version, err)
	}
	return store.CollectBundle(release, dir)
}

func (l *Lab) buildBundle(ctx context.Context, version, dir string, o BundleOptions) error {
	program := filepath.Join(o.Programs, "refit")
	if _, err := os.Stat(program); err != nil {
		return fmt.Errorf("the bundle is built by the product's own command; make it first (make build): %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, bundleDeadline)
	defer cancel()
	args := append([]string{"bundle", "build", "--version", version, "--from", dir, "--refit-node", filepath.Join(o.Programs, "refit-node"),
		"--push", l.RegistryAddress() + "/bundle:" + version, "--insecure"}, o.Args...)
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Stdout, cmd.Stderr = o.Log, o.Log
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("refit bundle build --version %s: %w", version, err)
	}
	return nil
}
