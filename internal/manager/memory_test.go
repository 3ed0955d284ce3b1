package manager

import (
	"context"
	"math"
	"runtime"
	"runtime/debug"
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

func TestAfterEachCollectionTheLimitIsSetAnew(t *testing.T) {
	g := NewWithT(t)
	before, percent := debug.SetMemoryLimit(-1), debug.SetGCPercent(100)
	defer debug.SetMemoryLimit(before)
	defer debug.SetGCPercent(percent)
	t.Setenv("GOGC", "")
	t.Setenv("GOMEMLIMIT", "")
	g.Expect(before).To(Equal(int64(math.MaxInt64)))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	collectEarly(ctx)
	limit := func() int64 { runtime.GC(); return debug.SetMemoryLimit(-1) }
	g.Eventually(limit).WithTimeout(10 * time.Second).Should(BeNumerically("<", 200<<20))
	small := debug.SetMemoryLimit(-1)
	func() {
		much := make([]byte, 100<<20)
		g.Eventually(limit).WithTimeout(10*time.Second).Should(BeNumerically(">", small+(100<<20)), "it follows what is in use")
		runtime.KeepAlive(much)
	}()
	g.Eventually(limit).WithTimeout(10 * time.Second).Should(BeNumerically("<", small+(50<<20)))

	cancel()
	limit() // what was under way ends
	debug.SetMemoryLimit(math.MaxInt64)
	g.Consistently(limit).WithTimeout(200*time.Millisecond).Should(Equal(int64(math.MaxInt64)), "it ends with the manager")
}

func TestTheLimitLeavesRoomForTheHeapToGrow(t *testing.T) {
	g := NewWithT(t)
	runtime.GC()
	now := memoryNow()
	g.Expect(now.live).To(BeNumerically(">", 1<<20))
	g.Expect(now.beside).To(And(BeNumerically(">", 1<<20), BeNumerically("<", 1<<30)), "stacks and the runtime's own books")
	for _, m := range []memory{{}, now, {live: 70 << 20, beside: 20 << 20}, {live: 10 << 30, beside: 500 << 20}} {
		g.Expect(limitFor(m)).To(BeNumerically(">", m.live+m.live*lean/100+m.beside))
	}
}
