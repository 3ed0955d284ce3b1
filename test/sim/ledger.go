package main

import (
	"container/heap"
	"slices"
	"sync"
	"time"

	"refit.dev/refit/api/v1alpha1"
)

// settled is how long an event waits for those that happened before it and come by another watch.
const settled = 500 * time.Millisecond

// event is a change of a Node or of a NodeUpgrade, and what it means.
type event struct {
	// version is the object's resourceVersion: the order of events across kinds.
	version uint64
	at      time.Time
	node    string
	worker  bool
	// claim is set where it is a NodeUpgrade's.
	claim bool
	// out says that the Node is not in service.
	out bool
	// held, phase and gone are the NodeUpgrade's.
	held  bool
	phase v1alpha1.NodeUpgradePhase
	again bool
	gone  bool
}

// ended says that nothing more will be done for the claim.
func (e *event) ended() bool { return e.phase.Ended() && !e.again }

// flying says that the node is being changed, or may be at any moment.
func (e *event) flying() bool {
	return e.claim && !e.gone && !e.ended() && (!e.held || e.phase == v1alpha1.NodeUpgrading)
}

// wait is from when a node was done to when the next was begun.
type wait struct{ freed, begun time.Time }

// ledger follows what happens, in the order in which it happened.
type ledger struct {
	mu      sync.Mutex
	pending queue
	nodes   map[string]event
	claims  map[string]event
	out     map[string]bool
	// freed are the times at which a node was done and another could begin, not followed by a start yet.
	freed []time.Time

	mostOut, limit        int
	passed                int
	waits                 []wait
	starts                []time.Time
	firstStart, lastEnded time.Time
	failures              int
}

func newLedger(limit int) *ledger {
	return &ledger{nodes: map[string]event{}, claims: map[string]event{}, out: map[string]bool{}, limit: limit}
}

// add takes an event, and works off those that have waited long enough.
func (l *ledger) add(e event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	heap.Push(&l.pending, e)
	l.workOff(time.Now().Add(-settled))
}

// flush works off those that came before a time.
func (l *ledger) flush(before time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.workOff(before)
}

func (l *ledger) workOff(before time.Time) {
	for len(l.pending) > 0 && l.pending[0].at.Before(before) {
		if e, ok := heap.Pop(&l.pending).(event); ok {
			l.apply(e)
		}
	}
}

func (l *ledger) apply(e event) {
	if !e.claim {
		l.nodes[e.node] = e
		l.count(e)
		return
	}
	was, known := l.claims[e.node]
	l.claims[e.node] = e
	if e.gone {
		delete(l.claims, e.node)
	}
	if e.worker {
		l.follow(was, known, e)
	}
	l.count(e)
}

// follow measures the time from one node that is done to the next that is started, where one waits for it.
func (l *ledger) follow(was event, known bool, e event) {
	switch {
	case known && was.flying() && e.ended():
		l.lastEnded = e.at
		if e.phase == v1alpha1.NodeFailed {
			l.failures++
		} else if l.waiting() > len(l.freed) {
			l.freed = append(l.freed, e.at)
		}
	case known && !was.flying() && e.flying():
		l.starts = append(l.starts, e.at)
		if l.firstStart.IsZero() {
			l.firstStart = e.at
		}
		if len(l.freed) > 0 {
			l.waits = append(l.waits, wait{freed: l.freed[0], begun: e.at})
			l.freed = l.freed[1:]
		}
	}
}

// waiting counts the workers that are staged and not begun.
func (l *ledger) waiting() int {
	n := 0
	for _, c := range l.claims {
		if c.worker && c.held && c.phase == v1alpha1.NodeStaged {
			n++
		}
	}
	return n
}

// count keeps the greatest number of workers that were out of service, or could be at any moment, at once.
func (l *ledger) count(e event) {
	if !e.worker {
		return
	}
	claim := l.claims[e.node]
	if l.nodes[e.node].out || claim.flying() {
		l.out[e.node] = true
	} else {
		delete(l.out, e.node)
	}
	if n := len(l.out); n > l.mostOut {
		l.mostOut = n
	}
	if len(l.out) > l.limit {
		l.passed++
	}
}

// tally is where the rollout stands.
type tally struct {
	total, done, flying, staged, staging, failed, out, mostOut int
}

func (l *ledger) tally() tally {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := tally{total: len(l.nodes), out: len(l.out), mostOut: l.mostOut}
	for _, c := range l.claims {
		switch {
		case c.flying():
			t.flying++
		case c.phase == v1alpha1.NodeCompleted:
			t.done++
		case c.ended():
			t.failed++
		case c.phase == v1alpha1.NodeStaged:
			t.staged++
		default:
			t.staging++
		}
	}
	return t
}

// firstStartAfter is when the first node was begun after a time, zero where none has been.
func (l *ledger) firstStartAfter(t time.Time) time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	if i := slices.IndexFunc(l.starts, func(s time.Time) bool { return s.After(t) }); i >= 0 {
		return l.starts[i]
	}
	return time.Time{}
}

// latencies are how long the waits took, without those during which nobody led.
func (l *ledger) latencies(killed, resumed time.Time) []time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []time.Duration
	for _, w := range l.waits {
		if !w.freed.After(resumed) && !w.begun.Before(killed) {
			continue
		}
		out = append(out, w.begun.Sub(w.freed))
	}
	return out
}

// queue orders events by their version.
type queue []event

func (q queue) Len() int           { return len(q) }
func (q queue) Less(i, j int) bool { return q[i].version < q[j].version }
func (q queue) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }

// Push is of heap.Interface.
func (q *queue) Push(x any) {
	if e, ok := x.(event); ok {
		*q = append(*q, e)
	}
}

// Pop is of heap.Interface.
func (q *queue) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}
