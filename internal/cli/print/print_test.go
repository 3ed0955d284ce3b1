package print

import (
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	clocktesting "k8s.io/utils/clock/testing"
)

func TestATableAlignsWhatIsShown(t *testing.T) {
	g := NewWithT(t)
	table := Table{Columns: []Column{{Name: "NODE"}, {Name: "IMAGE", Wide: true}, {Name: "STATE"}},
		Rows: [][]string{{"a", "x", "→ on"}, {"longer", "y", ""}, {"b", "z", "two\nlines"}}}
	var out strings.Builder
	g.Expect(table.Write(&out, false)).To(Succeed())
	g.Expect(out.String()).To(Equal("NODE     STATE\na        → on\nlonger   -\nb        two lines\n"))
	g.Expect(table.Lines(true)[1]).To(Equal("a        x       → on"))
}

func TestDurationsAreShortAndNeverNegative(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Second: "0s", 0: "0s", 499 * time.Millisecond: "0s", 59500 * time.Millisecond: "1m00s", 92 * time.Second: "1m32s",
		time.Hour + 5*time.Minute + 59*time.Second: "1h05m", 26 * time.Hour: "26h00m",
	} {
		NewWithT(t).Expect(Duration(d)).To(Equal(want))
	}
}

func TestLongSpansAreRounded(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Hour: "0s", 59 * time.Second: "59s", 59 * time.Minute: "59m", 47*time.Hour + 59*time.Minute: "47h59m", 12*24*time.Hour + 4*time.Hour: "12d4h",
	} {
		NewWithT(t).Expect(Span(d)).To(Equal(want))
	}
}

func TestFormatsAreThoseThatThereAre(t *testing.T) {
	g := NewWithT(t)
	var f Format
	g.Expect(f.Set("xml")).To(HaveOccurred())
	g.Expect(f.Set("yaml")).To(Succeed())
	g.Expect(f.Machine()).To(BeTrue())
	var out strings.Builder
	g.Expect(f.Value(&out, map[string]int{"a": 1})).To(Succeed())
	g.Expect(out.String()).To(Equal("a: 1\n"))
	g.Expect(f.Set("table")).To(Succeed())
	g.Expect(f).To(Equal(Plain))
}

func TestATransferIsShownNowAndThen(t *testing.T) {
	g := NewWithT(t)
	clock := clocktesting.NewFakeClock(time.Now())
	var out strings.Builder
	p := NewProgress(&out, clock, false, "push")
	p.Bytes(1<<20, 100<<20)
	clock.Step(5 * time.Second)
	p.Bytes(50<<20, 100<<20)
	clock.Step(time.Second)
	p.Bytes(60<<20, 100<<20)
	p.End()
	g.Expect(out.String()).To(Equal("push: 50 of 100 MB, 5s, about 5s left\n"))
}
