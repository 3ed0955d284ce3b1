package manager

import (
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
	collectEarly()
	limit := func() int64 { runtime.GC(); return debug.SetMemoryLimit(-1) }
	g.Eventually(limit).WithTimeout(10 * time.Second).Should(BeNumerically("<", 200<<20))
	small := debug.SetMemoryLimit(-1)
	func() {
		much := make([]byte, 100<<20)
		g.Eventually(limit).WithTimeout(10*time.Second).Should(BeNumerically(">", small+(100<<20)), "it follows what is in use")
		runtime.KeepAlive(much)
	}()
	g.Eventually(limit).WithTimeout(10 * time.Second).Should(BeNumerically("<", small+(50<<20)))
}

func TestTheLimitLeavesRoomForTheHeapToGrow(t *testing.T) {
	for _, used := range []uint64{0, 20 << 20, 70 << 20, 10 << 30} {
		NewWithT(t).Expect(limitFor(used)).To(BeNumerically(">", used+used*lean/100))
	}
}
