package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"refit.dev/refit/api/v1alpha1"
)

const (
	// registration bounds how long kwok takes to have every node Ready.
	registration = 5 * time.Minute
	// leading bounds how long the managers take until one of them leads.
	leading = time.Minute
	// longest bounds one rollout.
	longest = 2 * time.Hour
)

// simulation is everything that runs.
type simulation struct {
	settings settings
	workers  int
	cluster  *cluster
	kwok     *process
	managers []*manager
	ledger   *ledger
	out      io.Writer
	// stops end what was started, last first.
	stops []func() error

	begun time.Time
	// resumed counts how often a person had the rollout go on.
	resumed int64
	killed  killing
	// profiled says that profiles were taken.
	profiled bool
}

// rollout runs one from its begin to its end, and measures it. Nothing is left running.
func rollout(ctx context.Context, s settings, workers int, p programs, out io.Writer) (f *figures, err error) {
	s = s.at(workers)
	sim := &simulation{settings: s, workers: workers, out: out, ledger: newLedger(s.limit(workers))}
	defer func() { err = errors.Join(err, sim.stop()) }()
	if err := sim.setUp(ctx, p); err != nil {
		return nil, err
	}
	before, err := sim.measure(ctx)
	if err != nil {
		return nil, err
	}
	if err := sim.upgrade(ctx); err != nil {
		return nil, err
	}
	after, err := sim.measure(ctx)
	if err != nil {
		return nil, err
	}
	return sim.figures(before, after), nil
}

func (sim *simulation) stop() error {
	var errs []error
	for i := len(sim.stops) - 1; i >= 0; i-- {
		errs = append(errs, sim.stops[i]())
	}
	return errors.Join(errs...)
}

func (sim *simulation) setUp(ctx context.Context, p programs) error {
	dir := sim.settings.keep
	if dir != "" {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return fmt.Errorf("make the folder for the logs: %w", err)
		}
	} else {
		scratch, err := os.MkdirTemp("", "refit-sim-")
		if err != nil {
			return fmt.Errorf("make a scratch folder: %w", err)
		}
		dir = scratch
		sim.stops = append(sim.stops, func() error { return os.RemoveAll(scratch) })
	}
	say(sim.out, "Starting kube-apiserver and etcd")
	var err error
	if sim.cluster, err = startCluster(ctx, p.assets, dir); err != nil {
		return err
	}
	sim.stops = append(sim.stops, sim.cluster.stop)
	if err := sim.startKwok(p); err != nil {
		return err
	}
	say(sim.out, "Registering %d workers and %d control planes", sim.workers, sim.settings.controlPlanes)
	if err := sim.cluster.seed(ctx, sim.settings, sim.workers); err != nil {
		return err
	}
	err = until(ctx, registration, time.Second, "every node is Ready", func() (bool, error) {
		n, err := sim.cluster.registered(ctx)
		return n == sim.workers+sim.settings.controlPlanes, errors.Join(err, sim.kwok.alive())
	})
	if err != nil {
		return err
	}
	if err := sim.cluster.seedPods(ctx, sim.settings); err != nil {
		return err
	}
	watching, cancel := context.WithCancel(ctx)
	sim.stops = append(sim.stops, func() error { cancel(); return nil })
	if err := sim.cluster.watch(watching, sim.ledger); err != nil {
		return err
	}
	return sim.startManagers(ctx, p)
}

func (sim *simulation) startKwok(p programs) error {
	transient, broken := sim.failing()
	stages, err := stagesOf(sim.settings, transient, broken)
	if err != nil {
		return err
	}
	file := filepath.Join(sim.cluster.dir, "stages.yaml")
	if err := os.WriteFile(file, stages, 0o600); err != nil {
		return fmt.Errorf("write kwok's stages: %w", err)
	}
	// Hosts do not share the processors of control planes: what plays them is not to hold up what is measured.
	program, args := yielding(p.kwok, "--kubeconfig="+sim.cluster.kubeconfig, "--config="+file, "--server-address=127.0.0.1:0")
	sim.kwok, err = startProcess(sim.cluster.dir, "kwok", program, args...)
	if err != nil {
		return err
	}
	sim.stops = append(sim.stops, sim.kwok.stop)
	return nil
}

// failing are the workers that fail once, spread over the whole rollout.
func (sim *simulation) failing() (transient, broken []string) {
	n := int(float64(sim.workers) * sim.settings.fail / 100)
	if sim.settings.fail > 0 {
		n = max(n, 1)
	}
	for i := range n {
		name := workerName((2*i + 1) * sim.workers / (2 * n))
		if i%2 == 0 {
			transient = append(transient, name)
		} else {
			broken = append(broken, name)
		}
	}
	return transient, broken
}

func (sim *simulation) startManagers(ctx context.Context, p programs) error {
	for i := range 2 {
		m, err := sim.cluster.startManager(ctx, sim.settings, p.manager, fmt.Sprintf("manager-%d", i))
		if err != nil {
			return err
		}
		sim.managers = append(sim.managers, m)
		sim.stops = append(sim.stops, m.stop)
	}
	return until(ctx, leading, 200*time.Millisecond, "a manager leads", func() (bool, error) {
		for _, m := range sim.managers {
			if err := m.alive(); err != nil {
				return false, err
			}
		}
		return sim.leader(ctx) != nil, nil
	})
}

// leader is the manager that acts, nil where there is none.
func (sim *simulation) leader(ctx context.Context) *manager {
	for _, m := range sim.managers {
		if m.alive() == nil && m.leads(ctx) {
			return m
		}
	}
	return nil
}

// upgrade asks for the upgrade and follows it to its end.
func (sim *simulation) upgrade(ctx context.Context) error {
	u := &v1alpha1.KubernetesUpgrade{ObjectMeta: metav1.ObjectMeta{Name: to},
		Spec: v1alpha1.KubernetesUpgradeSpec{ToVersion: to, Plan: plan, ExcludedGates: []string{"etcd", "certificates", "kubeadm"}}}
	sim.begun = time.Now()
	if err := sim.cluster.client.Create(ctx, u); err != nil {
		return fmt.Errorf("ask for the upgrade: %w", err)
	}
	screen := newScreen(sim.out)
	defer screen.end()
	return until(ctx, longest, time.Second, "the upgrade is done", func() (bool, error) {
		sim.ledger.flush(time.Now().Add(-settled))
		if err := sim.cluster.client.Get(ctx, client.ObjectKeyFromObject(u), u); err != nil {
			return false, err
		}
		screen.show(sim.line(ctx, u))
		if err := sim.intervene(ctx, u); err != nil {
			return false, err
		}
		return u.Status.State == v1alpha1.StateUpgradeComplete, nil
	})
}

// intervene does what the plan of the simulation, or a person, would do just now.
func (sim *simulation) intervene(ctx context.Context, u *v1alpha1.KubernetesUpgrade) error {
	if err := sim.killLeader(ctx); err != nil {
		return err
	}
	if err := sim.profile(ctx); err != nil {
		return err
	}
	if u.Status.State != v1alpha1.StateUpgradeFailed || u.Spec.Resume > u.Status.Resumed {
		return nil
	}
	say(sim.out, "A person sees to it, and has the rollout go on: %s", u.Status.Waiting)
	patch := client.MergeFrom(u.DeepCopy())
	u.Spec.Resume++
	sim.resumed++
	if err := sim.cluster.client.Patch(ctx, u, patch); err != nil {
		return fmt.Errorf("resume the upgrade: %w", err)
	}
	return nil
}
