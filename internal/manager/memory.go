package manager

import (
	"context"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

const (
	// lean is how much may be garbage, in percent of what is in use, before it is collected. The manager is idle most of the time and keeps
	// thousands of nodes in memory: it has time for it, and control planes have better uses for their memory.
	lean = 20
	// slack is how much more than that the runtime may take, in bytes.
	slack = 4 << 20
)

// collectEarly keeps garbage low until ctx ends, and gives back to the host what a burst of work has taken, unless whoever runs the manager has
// said otherwise.
func collectEarly(ctx context.Context) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(lean)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		afterEachCollection(ctx, func() { debug.SetMemoryLimit(limitFor(memoryNow())) })
	}
}

// memory is how much the runtime has taken, in bytes: live is what the last collection left of the heap, beside what is no heap, or is lost
// between its objects.
type memory struct{ live, beside uint64 }

// limitFor is how much the runtime may take in all. There is room in it for the heap to grow to where it is collected anyway: a limit below that
// would have it collected without end. It bounds what is allocated while a collection runs.
func limitFor(m memory) int64 {
	return int64(m.live + m.live*lean/100 + m.beside + slack)
}

func memoryNow() memory {
	const classes = "/memory/classes/"
	names := []string{"/gc/heap/live:bytes", classes + "total:bytes", classes + "heap/objects:bytes", classes + "heap/free:bytes", classes + "heap/released:bytes"}
	samples := make([]metrics.Sample, len(names))
	for i, name := range names {
		samples[i].Name = name
	}
	metrics.Read(samples)
	m := memory{live: samples[0].Value.Uint64(), beside: samples[1].Value.Uint64()}
	for _, heap := range samples[2:] {
		m.beside -= heap.Value.Uint64()
	}
	return m
}

// afterEachCollection calls a function after each garbage collection until ctx ends.
func afterEachCollection(ctx context.Context, do func()) {
	type sentinel struct{ _ *int } // with a pointer in it, so that it shares its memory with nothing that lives on
	runtime.AddCleanup(&sentinel{}, func(struct{}) {
		if ctx.Err() != nil {
			return
		}
		do()
		afterEachCollection(ctx, do)
	}, struct{}{})
}
