// Package feed follows an upgrade: it keeps what the API server last said of the upgrade, the nodes and their upgrades, and
// rides over an API server that is away, as it is when the only control plane is upgraded.
package feed

import (
	"context"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"refit.dev/refit/api/v1alpha1"
)

// Seen is what the API server last said.
type Seen struct {
	Upgrades     []v1alpha1.KubernetesUpgrade
	Nodes        []corev1.Node
	NodeUpgrades []v1alpha1.NodeUpgrade
	// LostSince is when the API server stopped answering, zero while it answers.
	LostSince time.Time
	// LostReason is how it showed.
	LostReason string
}

// Upgrade is the upgrade of that name, nil where there is none (any more).
func (s Seen) Upgrade(name string) *v1alpha1.KubernetesUpgrade {
	for i := range s.Upgrades {
		if s.Upgrades[i].Name == name {
			return &s.Upgrades[i]
		}
	}
	return nil
}

// Feed follows until its context ends.
type Feed struct {
	changed chan struct{}

	upgrades     *kind[v1alpha1.KubernetesUpgrade, *v1alpha1.KubernetesUpgrade]
	nodes        *kind[corev1.Node, *corev1.Node]
	nodeUpgrades *kind[v1alpha1.NodeUpgrade, *v1alpha1.NodeUpgrade]

	lost losses
}

// Open reads everything once, so that a missing right or a wrong kubeconfig is an error right away, and then follows.
func Open(ctx context.Context, c client.WithWatch, clk clock.WithTicker) (*Feed, error) {
	f := &Feed{changed: make(chan struct{}, 1), lost: losses{clock: clk, of: map[string]loss{}}}
	f.upgrades = newKind[v1alpha1.KubernetesUpgrade](f, c, clk, &v1alpha1.KubernetesUpgradeList{}, "upgrades")
	f.nodes = newKind[corev1.Node](f, c, clk, &corev1.NodeList{}, "nodes")
	f.nodeUpgrades = newKind[v1alpha1.NodeUpgrade](f, c, clk, &v1alpha1.NodeUpgradeList{}, "node upgrades", client.InNamespace(v1alpha1.Namespace))
	for _, read := range []func(context.Context) error{f.upgrades.read, f.nodes.read, f.nodeUpgrades.read} {
		if err := read(ctx); err != nil {
			return nil, err
		}
	}
	go f.upgrades.follow(ctx)
	go f.nodes.follow(ctx)
	go f.nodeUpgrades.follow(ctx)
	return f, nil
}

// Changed tells that there is something new to be had from Seen.
func (f *Feed) Changed() <-chan struct{} { return f.changed }

// Seen is what the API server last said.
func (f *Feed) Seen() Seen {
	s := Seen{Upgrades: f.upgrades.all(), Nodes: f.nodes.all(), NodeUpgrades: f.nodeUpgrades.all()}
	s.LostSince, s.LostReason = f.lost.longest()
	return s
}

func (f *Feed) tell() {
	select {
	case f.changed <- struct{}{}:
	default: // told already
	}
}

type loss struct {
	since  time.Time
	reason string
}

// losses remembers what cannot be read now, and since when.
type losses struct {
	mu    sync.Mutex
	clock clock.PassiveClock
	of    map[string]loss
}

func (l *losses) set(what string, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err == nil {
		delete(l.of, what)
		return
	}
	known, already := l.of[what]
	if !already {
		known.since = l.clock.Now()
	}
	known.reason = err.Error()
	l.of[what] = known
}

func (l *losses) longest() (time.Time, string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var found loss
	for _, k := range l.of {
		if found.since.IsZero() || k.since.Before(found.since) {
			found = k
		}
	}
	return found.since, found.reason
}
