package timeline

import (
	"bytes"
	"errors"
	"sync"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	testclock "k8s.io/utils/clock/testing"
)

// page is a writer that a test may read meanwhile.
type page struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (p *page) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.Write(b)
}

func (p *page) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.String()
}

func TestAStepSaysHowLongItTookAndWhatIsLeft(t *testing.T) {
	g := NewWithT(t)
	out, clock := &page{}, testclock.NewFakeClock(time.Now())
	line := New(out, clock, 30*time.Second)
	defer line.Close()
	g.Expect(line.Do("building", 10*time.Second, func() error { clock.Step(4 * time.Second); return nil })).To(Succeed())
	g.Expect(out.String()).To(Equal("      4s  building: done in 4s, about 20s left\n"))
}

func TestAStepThatNobodyNoticesSaysNothing(t *testing.T) {
	g := NewWithT(t)
	out, clock := &page{}, testclock.NewFakeClock(time.Now())
	line := New(out, clock, time.Minute)
	defer line.Close()
	g.Expect(line.Do("looking", 0, func() error { return nil })).To(Succeed())
	g.Expect(out.String()).To(BeEmpty())
}

func TestAFailureIsSaidAndHandedOn(t *testing.T) {
	g := NewWithT(t)
	out := &page{}
	line := New(out, testclock.NewFakeClock(time.Now()), time.Minute)
	defer line.Close()
	broken := errors.New("broken")
	g.Expect(line.Do("joining", 0, func() error { return broken })).To(MatchError(broken))
	g.Expect(out.String()).To(ContainSubstring("joining: failed"))
}

func TestWhatTakesLongIsMentionedWithTheTimeLeft(t *testing.T) {
	g := NewWithT(t)
	out, clock := &page{}, testclock.NewFakeClock(time.Now())
	line := New(out, clock, 30*time.Second)
	defer line.Close()
	err := line.Do("joining", 20*time.Second, func() error {
		clock.Step(interval)
		g.Eventually(out.String).Should(Equal("      5s  joining (5s), about 25s left\n"))
		return nil
	})
	g.Expect(err).NotTo(HaveOccurred())
}

func TestTimeOverTheEstimateIsNeverNegative(t *testing.T) {
	g := NewWithT(t)
	out, clock := &page{}, testclock.NewFakeClock(time.Now())
	line := New(out, clock, time.Second)
	defer line.Close()
	g.Expect(line.Do("joining", time.Second, func() error { clock.Step(3 * time.Second); return nil })).To(Succeed())
	g.Expect(out.String()).To(Equal("      3s  joining: done in 3s\n"))
}
