package sequence

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	clocktesting "k8s.io/utils/clock/testing"
	"pgregory.net/rapid"
)

// errPower is what everything answers once the power is cut.
var errPower = errors.New("the power is cut")

// world is parts that steps change one by one, and a power that is cut after a number of changes.
type world struct {
	parts map[string]int
	// left is how many changes happen until the power is cut; below 0 it stays.
	left int
}

// change makes one change, or finds the power cut just before or just after it.
func (w *world) change(part string, to int) error {
	if w.left == 0 {
		return errPower
	}
	w.parts[part] = to
	if w.left > 0 {
		w.left--
		if w.left == 0 {
			return errPower
		}
	}
	return nil
}

// cutLog is a journal that the power cut also takes, before or after a record is safe.
type cutLog struct {
	*Journal
	w *world
}

func (l cutLog) Append(r Record) error {
	if l.w.left == 0 {
		return errPower
	}
	if err := l.Journal.Append(r); err != nil {
		return err
	}
	if l.w.left > 0 {
		l.w.left--
		if l.w.left == 0 {
			return errPower
		}
	}
	return nil
}

// wholeStep changes several parts; only all of them together are its effect.
type wholeStep struct {
	w     *world
	name  string
	parts []string
	// needs is the step that must be whole before this one changes anything.
	needs *wholeStep
	t     *rapid.T
}

func (s wholeStep) Name() string            { return s.name }
func (s wholeStep) Deadline() time.Duration { return time.Hour }

func (s wholeStep) whole() bool {
	for _, p := range s.parts {
		if s.w.parts[p] != 1 {
			return false
		}
	}
	return true
}

func (s wholeStep) Done(context.Context) (bool, string, error) {
	if s.w.left == 0 {
		return false, "", errPower
	}
	return s.whole(), "", nil
}

func (s wholeStep) Run(context.Context) (string, error) {
	if s.needs != nil && !s.needs.whole() {
		s.t.Fatalf("%s began while %s was half done", s.name, s.needs.name)
	}
	for _, p := range s.parts {
		if err := s.w.change(p, 1); err != nil {
			return "", err
		}
	}
	return "", nil
}

// However often and wherever the power is cut, between two changes of the world or between a change and a record: each step begins
// only when the one before is whole, the journal stays readable, and with enough boots everything ends done.
func TestPowerCuts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := NewWithT(t)
		w := &world{parts: map[string]int{}, left: -1}
		steps := drawSteps(t, w)
		path := filepath.Join(tempDir(t), "journal")
		cuts := rapid.SliceOfN(rapid.IntRange(1, 12), 0, 20).Draw(t, "cuts")
		for boot := 0; ; boot++ {
			w.left = -1
			if boot < len(cuts) {
				w.left = cuts[boot]
			}
			j, err := OpenJournal(path)
			g.Expect(err).NotTo(HaveOccurred())
			r := &Runner{Journal: cutLog{j, w}, Clock: clocktesting.NewFakePassiveClock(time.Unix(int64(boot), 0))}
			_, err = r.Run(context.Background(), steps...)
			g.Expect(j.Close()).To(Succeed())
			if err == nil {
				break
			}
			g.Expect(errors.Is(err, errPower)).To(BeTrue(), "%v", err)
			g.Expect(boot).To(BeNumerically("<", len(cuts)), "a boot without a power cut ends")
		}
		for _, s := range steps {
			g.Expect(s.(wholeStep).whole()).To(BeTrue())
		}
		checkRecords(g, path)
	})
}

// checkRecords: a step's change is never without a record of its start before it.
func checkRecords(g *WithT, path string) {
	records, err := ReadJournal(path)
	g.Expect(err).NotTo(HaveOccurred())
	starts := map[string]int{}
	for _, r := range records {
		switch r.Event {
		case Started:
			starts[r.Step]++
			g.Expect(r.Attempt).To(Equal(starts[r.Step]))
		case Finished, Failed:
			g.Expect(starts[r.Step]).To(BeNumerically(">", 0), r.Step)
		}
	}
}

func drawSteps(t *rapid.T, w *world) []Step {
	var steps []Step
	var before *wholeStep
	for i := range rapid.IntRange(1, 5).Draw(t, "steps") {
		s := wholeStep{w: w, name: fmt.Sprintf("step-%d", i), needs: before, t: t}
		for p := range rapid.IntRange(1, 4).Draw(t, "parts") {
			s.parts = append(s.parts, fmt.Sprintf("%d.%d", i, p))
		}
		steps = append(steps, s)
		before = &s
	}
	return steps
}
