// Command demo shows the main job: a real cluster with an application on it, upgraded in place while clients watch.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"

	"refit.dev/refit/lab"
	"refit.dev/refit/test/bed"
)

// name of the demo's lab.
const name = "demo"

// upgradeDeadline bounds the upgrade; it takes about two minutes.
const upgradeDeadline = 30 * time.Minute

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, w io.Writer) error {
	begun := time.Now()
	if old, err := lab.Open(ctx, name); err == nil {
		fmt.Fprintln(w, "Removing the cluster of an earlier demo")
		if err := old.Down(ctx); err != nil {
			return err
		}
	}
	title(w, "A cluster of one control plane and two workers at %s", bed.From)
	b, err := bed.Up(ctx, bed.Options{Name: name, ControlPlanes: 1, Workers: 2, Log: w})
	if err != nil {
		return err
	}
	if err := b.DeployApp(ctx); err != nil {
		return b.Close(ctx, err)
	}
	if err := upgrade(ctx, w, b); err != nil {
		fmt.Fprintf(w, "\nThe cluster is left as it is. Look around with the commands below.\n")
		around(w, b)
		return err
	}
	fmt.Fprintf(w, "\nThe whole demo took %s.\n", time.Since(begun).Round(time.Second))
	around(w, b)
	return nil
}

func upgrade(ctx context.Context, w io.Writer, b *bed.Bed) error {
	title(w, "Before")
	if err := versions(ctx, w, b); err != nil {
		return err
	}
	title(w, "refit plan %s", bed.To)
	if err := b.RefitTo(ctx, w, "plan", bed.To); err != nil {
		return err
	}
	clients, err := b.StartClients(ctx)
	if err != nil {
		return err
	}
	title(w, "refit upgrade %s --watch", bed.To)
	ctx, cancel := context.WithTimeout(ctx, upgradeDeadline)
	defer cancel()
	err = b.RefitTo(ctx, w, "upgrade", bed.To, "--watch", "--yes")
	results := clients.Stop()
	if err != nil {
		return err
	}
	title(w, "After")
	if err := versions(ctx, w, b); err != nil {
		return err
	}
	title(w, "What clients noticed, at 10 requests a second each, without retries")
	fmt.Fprint(w, bed.Describe(results))
	fmt.Fprintln(w, "  A single control plane is away while it restarts; the application must not notice.")
	return nil
}

// versions prints what every node runs.
func versions(ctx context.Context, w io.Writer, b *bed.Bed) error {
	var nodes corev1.NodeList
	if err := b.Client.List(ctx, &nodes); err != nil {
		return fmt.Errorf("list the nodes: %w", err)
	}
	for _, n := range nodes.Items {
		fmt.Fprintf(w, "  %-10s kubelet %s   %s\n", n.Name, n.Status.NodeInfo.KubeletVersion, n.Status.NodeInfo.ContainerRuntimeVersion)
	}
	return nil
}

func around(w io.Writer, b *bed.Bed) {
	fmt.Fprintf(w, `
Look around:
  export KUBECONFIG=%s
  %s status
  %s nodes
  kubectl get nodeupgrades,kubernetesupgrades -A
Remove it:
  make lab-down NAME=%s
`, b.Kubeconfig, relative(b.Program("refit")), relative(b.Program("refit")), name)
}

// relative shortens a path for a person who stands in the checkout.
func relative(path string) string { return filepath.Join("bin", filepath.Base(path)) }

func title(w io.Writer, format string, args ...any) {
	fmt.Fprintf(w, "\n── %s\n", fmt.Sprintf(format, args...))
}
