package manager

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

const (
	// lean is how much may be garbage, in percent of what is in use, before it is collected. The manager is idle most of the time and keeps
	// thousands of nodes in memory: it has time for it, and control planes have better uses for their memory.
	lean = 20
	// beside is what the runtime needs besides the heap in bytes: stacks, its own books, and what is lost between objects.
	beside = 18 << 20
)

// collectEarly keeps garbage low, and gives back to the host what a burst of work has taken, unless whoever runs the manager has said
// otherwise.
func collectEarly() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(lean)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		afterEachCollection(func() { debug.SetMemoryLimit(limitFor(inUse())) })
	}
}

// limitFor is how much memory the runtime may take in all where so much of the heap is in use. It is never less than what the heap may grow
// to before the next collection, so that it makes none come earlier; it bounds what is allocated while one runs.
func limitFor(used uint64) int64 {
	return int64(used + used*lean/100 + beside)
}

// inUse is what the last collection left of the heap, in bytes.
func inUse() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// afterEachCollection calls a function after each garbage collection, for good.
func afterEachCollection(do func()) {
	type sentinel struct{ _ *int } // with a pointer in it, so that it shares its memory with nothing that lives on
	runtime.AddCleanup(&sentinel{}, func(struct{}) {
		do()
		afterEachCollection(do)
	}, struct{}{})
}
