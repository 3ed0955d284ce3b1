// Package invariant watches a cluster while it is upgraded and disturbed, and says where a claim of the product did not hold
// (the claims at the head of the fault list).
package invariant

import (
	"context"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"refit.dev/refit/api/v1alpha1"
)

// sampleEvery is how often the cluster is looked at. Between two looks a violation could hide; the claims on who is next
// are also tested as properties of the planner, where nothing can.
const sampleEvery = 500 * time.Millisecond

// Limits are what the claims are held against.
type Limits struct {
	// MaxUnavailable is the greatest number of workers out of service.
	MaxUnavailable int
	// Broken are nodes that the test itself has broken: fate, not Refit, put them out of service.
	Broken map[string]bool
	// Cordoned are nodes that a person has cordoned.
	Cordoned []string
}

// Watcher samples a cluster until it is stopped.
type Watcher struct {
	client client.Client
	stop   context.CancelFunc
	done   chan struct{}

	mu         sync.Mutex
	limits     Limits
	violations []string
	seen       map[string]bool
	samples    int
	mostOut    int
	skew       lasting
}

// Start begins to watch.
func Start(ctx context.Context, c client.Client, l Limits) *Watcher {
	ctx, cancel := context.WithCancel(ctx)
	if l.Broken == nil {
		l.Broken = map[string]bool{}
	}
	w := &Watcher{client: c, stop: cancel, done: make(chan struct{}), limits: l, seen: map[string]bool{}}
	go w.run(ctx)
	return w
}

// Break tells that the test has broken a node itself.
func (w *Watcher) Break(node string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.limits.Broken[node] = true
}

// Stop ends the watch. It returns what did not hold, and an error where so little was seen that silence proves nothing.
func (w *Watcher) Stop() ([]string, error) {
	w.stop()
	<-w.done
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.samples < 10 {
		return w.violations, fmt.Errorf("the watcher saw the cluster only %d times", w.samples)
	}
	return w.violations, nil
}

// MostOut is the greatest number of workers that were out of service at once, those that the test broke left out.
func (w *Watcher) MostOut() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.mostOut
}

func (w *Watcher) run(ctx context.Context) {
	defer close(w.done)
	tick := time.NewTicker(sampleEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			w.sample(ctx)
		}
	}
}

// sample looks once. A look that fails, because the API server is away, is no sample.
func (w *Watcher) sample(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	var nodes corev1.NodeList
	var upgrades v1alpha1.NodeUpgradeList
	var pods corev1.PodList
	if w.client.List(ctx, &nodes) != nil || w.client.List(ctx, &upgrades, client.InNamespace(v1alpha1.Namespace)) != nil ||
		w.client.List(ctx, &pods, client.InNamespace("kube-system"), client.MatchingLabels{"tier": "control-plane"}) != nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.samples++
	out := outOfService(nodes.Items, w.limits.Broken)
	w.mostOut = max(w.mostOut, len(out))
	if len(out) > w.limits.MaxUnavailable {
		w.violated("out of service: %v, more than %d", out, w.limits.MaxUnavailable)
	}
	if flying := controlPlanesInFlight(upgrades.Items); len(flying) > 1 {
		w.violated("control planes in flight at once: %v", flying)
	}
	for _, found := range [][]string{w.skew.over(illegalSkew(nodes.Items, pods.Items), time.Now(), mirrorLag), withoutQuorum(pods.Items),
		uncordoned(nodes.Items, w.limits.Cordoned), retriedForEver(upgrades.Items)} {
		for _, v := range found {
			w.violated("%s", v)
		}
	}
}

// violated records a violation once.
func (w *Watcher) violated(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if !w.seen[text] {
		w.seen[text] = true
		w.violations = append(w.violations, time.Now().Format(time.TimeOnly)+" "+text)
	}
}
