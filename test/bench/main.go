// Command bench upgrades the same cluster twice, by the commands of the kubeadm documentation and by Refit, and prints what
// each took and what clients noticed. It never fails by time.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/lab/parts"
	"refit.dev/refit/test/bed"
	"refit.dev/refit/test/load"
)

// deadline bounds one of the two upgrades.
const deadline = 40 * time.Minute

// outcome is what one way of upgrading took.
type outcome struct {
	took    time.Duration
	results []load.Result
	steps   *steps
}

func main() {
	controlPlanes := flag.Int("control-planes", 3, "control planes of the cluster")
	workers := flag.Int("workers", 2, "workers of the cluster")
	only := flag.String("only", "", "run only one way: hand or refit")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, *controlPlanes, *workers, *only)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, controlPlanes, workers int, only string) error {
	outcomes := map[string]outcome{}
	for _, way := range []string{"hand", "refit"} {
		if only != "" && only != way {
			continue
		}
		fmt.Printf("== %s: a new cluster of %d control planes and %d workers at %s\n", way, controlPlanes, workers, bed.From)
		o, err := measure(ctx, way, bed.Options{Name: "bench-" + way, ControlPlanes: controlPlanes, Workers: workers, Log: os.Stderr})
		if err != nil {
			return fmt.Errorf("%s: %w", way, err)
		}
		outcomes[way] = o
		fmt.Printf("== %s: %s\n%s", way, o.took.Round(time.Second), bed.Describe(o.results))
		o.steps.print(os.Stdout)
	}
	if hand, refit := outcomes["hand"], outcomes["refit"]; hand.took > 0 && refit.took > 0 {
		fmt.Printf("== ratio: Refit needs %.2f of the time by hand (%s against %s)\n", refit.took.Seconds()/hand.took.Seconds(),
			refit.took.Round(time.Second), hand.took.Round(time.Second))
	}
	return nil
}

func measure(ctx context.Context, way string, o bed.Options) (out outcome, err error) {
	up := bed.Up
	if way == "hand" {
		up = bed.ClusterOnly
	}
	b, err := up(ctx, o)
	if err != nil {
		return out, err
	}
	defer func() { err = b.Close(ctx, err) }()
	if err := b.DeployApp(ctx); err != nil {
		return out, err
	}
	clients, err := b.StartClients(ctx)
	if err != nil {
		return out, err
	}
	ctx, cancel := context.WithTimeout(ctx, deadline)
	defer cancel()
	begun := time.Now()
	if way == "hand" {
		out.steps, err = byHand(ctx, b)
	} else {
		out.steps, err = byRefit(ctx, b)
	}
	out.took = time.Since(begun)
	out.results = clients.Stop()
	return out, err
}

func byHand(ctx context.Context, b *bed.Bed) (*steps, error) {
	store, err := parts.OpenStore()
	if err != nil {
		return nil, err
	}
	h := &hand{bed: b, programs: store.Dir(parts.Kubernetes(bed.To)), steps: newSteps()}
	return h.steps, h.run(ctx)
}

func byRefit(ctx context.Context, b *bed.Bed) (*steps, error) {
	if err := b.RefitTo(ctx, os.Stdout, "upgrade", bed.To, "--watch", "--yes"); err != nil {
		return newSteps(), err
	}
	var list v1alpha1.NodeUpgradeList
	if err := b.Client.List(ctx, &list, client.InNamespace(v1alpha1.Namespace)); err != nil {
		return nil, err
	}
	out := newSteps()
	for _, h := range b.Lab.Hosts() {
		for _, u := range list.Items {
			if u.Spec.Machine.Name != h.Name || u.Spec.KubernetesVersion != bed.To {
				continue
			}
			for _, s := range u.Status.Steps {
				if s.StartedAt != nil && s.FinishedAt != nil {
					out.add(h.Name, string(s.Name), s.FinishedAt.Sub(s.StartedAt.Time))
				}
			}
		}
	}
	return out, nil
}
