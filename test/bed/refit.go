package bed

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	utilversion "k8s.io/apimachinery/pkg/util/version"

	"refit.dev/refit/lab"
)

// ManagerImage is the name under which nodes pull the manager.
const ManagerImage = "refit.dev/manager:lab"

// Program is the path of one of the product's programs.
func (b *Bed) Program(name string) string { return filepath.Join(b.programs(), name) }

// programs is the folder of the product's programs: REFIT_BIN, or bin in the checkout.
func (b *Bed) programs() string {
	if dir := os.Getenv("REFIT_BIN"); dir != "" {
		return dir
	}
	return filepath.Join(b.root, "bin")
}

// Refit runs the CLI as an operator would, and returns all that it printed.
func (b *Bed) Refit(ctx context.Context, args ...string) (string, error) {
	var out strings.Builder
	err := b.RefitTo(ctx, &out, args...)
	return out.String(), err
}

// RefitTo runs the CLI with its output to w.
func (b *Bed) RefitTo(ctx context.Context, w io.Writer, args ...string) error {
	return b.run(ctx, w, b.Program("refit"), args...)
}

// Kubectl runs the given kubectl against the cluster; what it printed is in the error.
func (b *Bed) Kubectl(ctx context.Context, kubectl string, args ...string) error {
	var out strings.Builder
	if err := b.run(ctx, &out, kubectl, args...); err != nil {
		return fmt.Errorf("%w\n%s", err, out.String())
	}
	return nil
}

func (b *Bed) run(ctx context.Context, w io.Writer, program string, args ...string) error {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+b.Kubeconfig)
	cmd.Stdout, cmd.Stderr = w, w
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s %s: %w", filepath.Base(program), strings.Join(args, " "), err)
	}
	return nil
}

// logged runs the CLI and puts what it printed into the error.
func (b *Bed) logged(ctx context.Context, args ...string) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	out, err := b.Refit(ctx, args...)
	if err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return nil
}

// publishBundle builds the bundle of a version into the lab's registry. One may go back from it to the earlier patch versions that are
// published.
func (b *Bed) publishBundle(ctx context.Context, version string) error {
	o := lab.BundleOptions{Programs: b.programs(), Log: b.log}
	this, err := utilversion.ParseSemantic(version)
	if err != nil {
		return err
	}
	for _, v := range b.published {
		if other, err := utilversion.ParseSemantic(v); err == nil && other.Minor() == this.Minor() && other.LessThan(this) {
			o.Args = append(o.Args, "--downgrade-to", v)
		}
	}
	return b.Lab.PublishBundle(ctx, version, o)
}

// Import makes the KubernetesVersion of a published bundle.
func (b *Bed) Import(ctx context.Context, version string) error {
	return b.logged(ctx, b.ImportArgs(version)...)
}

// ImportArgs are the arguments of refit that import the bundle with the tag.
func (b *Bed) ImportArgs(tag string) []string {
	return []string{"bundle", "import", b.Lab.RegistryAddress() + "/bundle:" + tag, "--insecure", "--image-ref", bundleRepository}
}

// installRefit pushes the manager's image and installs Refit.
func (b *Bed) installRefit(ctx context.Context) error {
	push := []string{"bundle", "manager-image", "--binary", b.Program("refit-manager"),
		"--push", b.Lab.RegistryAddress() + "/manager:lab", "--insecure"}
	if err := b.logged(ctx, push...); err != nil {
		return err
	}
	return b.logged(ctx, "install", "--image", ManagerImage, "--wait")
}
