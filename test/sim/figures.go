package main

import (
	"math"
	"slices"
	"time"
)

// The numbers that the product is held to.
const (
	heldStart    = 1.0
	heldRequests = 15.0
	heldMemory   = 150
	// heldGrowth is what counts as flat: how much more one node may cost at the largest size than at the smallest.
	heldGrowth = 1.25
)

// figures are what one rollout took.
type figures struct {
	Nodes         int `json:"nodes"`
	ControlPlanes int `json:"controlPlanes"`
	Limit         int `json:"limit"`
	Waves         int `json:"waves"`
	// NodeTime is what the steps of a worker take, in seconds.
	NodeTime float64 `json:"nodeSeconds"`
	// Seconds: the whole rollout; its workers, without the gap that a killed leader left; the ideal of the same waves.
	Total   float64 `json:"totalSeconds"`
	Workers float64 `json:"workersSeconds"`
	Ideal   float64 `json:"idealSeconds"`
	// Start: from one node that is done to the next that is begun, in seconds; those that waited for a killed leader's successor are left out.
	StartP50 float64 `json:"startP50Seconds"`
	StartP99 float64 `json:"startP99Seconds"`
	Starts   int     `json:"starts"`
	// Requests a node, of both managers, by verb and resource; leases are by time, not by node.
	Requests       float64            `json:"requestsPerNode"`
	ByVerb         map[string]float64 `json:"requestsPerNodeByVerb"`
	ByResource     map[string]float64 `json:"requestsPerNodeByVerbAndResource"`
	LeaseRequests  int                `json:"leaseRequests"`
	WatchBytes     float64            `json:"watchBytesPerNode"`
	ReadBytes      float64            `json:"otherBytesPerNode"`
	Milliseconds   float64            `json:"cpuMillisecondsPerNode"`
	Memory         float64            `json:"memoryMB"`
	ReconcileP99   map[string]float64 `json:"reconcileP99Seconds"`
	MostOut        int                `json:"mostOut"`
	Violations     int                `json:"violations"`
	Failures       int                `json:"failures"`
	Resumed        int64              `json:"resumedByAPerson"`
	KilledToWrite  float64            `json:"killedToFirstWriteSeconds,omitempty"`
	KilledToStart  float64            `json:"killedToNextStartSeconds,omitempty"`
	OwnFlowSchemas float64            `json:"shareInOwnFlowSchemas"`
}

// figures are worked out from two readings and from what the ledger saw between them.
func (sim *simulation) figures(before, after reading) *figures {
	sim.ledger.flush(time.Now())
	l, nodes := sim.ledger, float64(sim.workers+sim.settings.controlPlanes)
	write, start := sim.resumption()
	waits := sim.waits()
	f := &figures{
		Nodes: sim.workers, ControlPlanes: sim.settings.controlPlanes, Limit: l.limit, Waves: (sim.workers + l.limit - 1) / l.limit,
		Total: after.at.Sub(sim.begun).Seconds(), Workers: l.lastEnded.Sub(l.firstStart).Seconds(),
		StartP50: quantile(waits, 0.5).Seconds(), StartP99: quantile(waits, 0.99).Seconds(), Starts: len(waits),
		ByVerb: map[string]float64{}, ByResource: map[string]float64{}, ReconcileP99: map[string]float64{},
		WatchBytes: float64(after.watchBytes-before.watchBytes) / nodes, ReadBytes: float64(after.readBytes-before.readBytes) / nodes,
		Milliseconds: float64((after.cpu - before.cpu).Milliseconds()) / nodes, Memory: float64(after.memory) / (1 << 20),
		MostOut: l.mostOut, Violations: l.passed, Failures: l.failures, Resumed: sim.resumed,
	}
	f.NodeTime = sim.settings.nodeTime.Seconds()
	f.Ideal = (time.Duration(f.Waves) * sim.settings.nodeTime).Seconds()
	f.KilledToWrite, f.KilledToStart = write.Seconds(), start.Seconds()
	f.Workers -= start.Seconds()
	for q, n := range after.requests {
		f.count(q, n-before.requests[q], nodes)
	}
	for _, controller := range after.metrics.values("controller_runtime_reconcile_time_seconds_count", "controller") {
		f.ReconcileP99[controller] = number(after.metrics.quantile("controller_runtime_reconcile_time_seconds", 0.99, map[string]string{"controller": controller}))
	}
	f.OwnFlowSchemas = sim.share(after)
	return f
}

func (f *figures) count(q request, n int, nodes float64) {
	switch {
	case n == 0:
		return
	case q.Resource == "leases":
		f.LeaseRequests += n
		return
	}
	f.Requests += float64(n) / nodes
	f.ByVerb[q.Verb] += float64(n) / nodes
	f.ByResource[q.Verb+" "+q.Resource] += float64(n) / nodes
}

// share is how many of the requests came under FlowSchemas of Refit's own.
func (sim *simulation) share(r reading) float64 {
	var own, all int
	for uid, n := range r.flows {
		all += n
		if slices.Contains(sim.cluster.flowSchemas, uid) {
			own += n
		}
	}
	return float64(own) / float64(max(1, all))
}

// number is a number that JSON has: none where there was nothing to measure.
func number(f float64) float64 {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return 0
	}
	return f
}

func quantile(all []time.Duration, q float64) time.Duration {
	if len(all) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(all))
	return sorted[min(len(sorted)-1, int(math.Ceil(q*float64(len(sorted))))-1)]
}
