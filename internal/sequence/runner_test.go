package sequence

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	clocktesting "k8s.io/utils/clock/testing"
)

// switchStep is a step whose world is one switch.
type switchStep struct {
	name    string
	on      *bool
	run     func(ctx context.Context) error
	asked   int
	ran     int
	within  time.Duration
	doneErr error
}

func (s *switchStep) Name() string { return s.name }
func (s *switchStep) Deadline() time.Duration {
	if s.within == 0 {
		return time.Minute
	}
	return s.within
}
func (s *switchStep) Done(context.Context) (bool, string, error) {
	s.asked++
	return *s.on, "the switch", s.doneErr
}
func (s *switchStep) Run(ctx context.Context) (string, error) {
	s.ran++
	if s.run != nil {
		if err := s.run(ctx); err != nil {
			return "", err
		}
	}
	*s.on = true
	return "switched on", nil
}

// undoStep is a switchStep that can be undone.
type undoStep struct {
	*switchStep
	undone   bool
	undoneBy func(ctx context.Context) error
}

func (s *undoStep) Undo(ctx context.Context) (bool, string, error) {
	if s.undoneBy != nil {
		if err := s.undoneBy(ctx); err != nil {
			return false, "", err
		}
	}
	s.undone = true
	return true, "Switched off again", nil
}

func events(j *Journal) []string {
	var out []string
	for _, r := range j.Records() {
		out = append(out, r.Step+" "+string(r.Event))
	}
	return out
}

func TestRunner(t *testing.T) {
	setUp := func(t *testing.T) (*WithT, *Runner, *Journal) {
		g := NewWithT(t)
		j, err := OpenJournal(filepath.Join(t.TempDir(), "j"))
		g.Expect(err).NotTo(HaveOccurred())
		t.Cleanup(func() { g.Expect(j.Close()).To(Succeed()) })
		return g, &Runner{Journal: j, Clock: clocktesting.NewFakePassiveClock(time.Unix(0, 0)), Prefix: "x/"}, j
	}
	off := func() *bool { return new(bool) }

	t.Run("runs what is not done, records it before and after, and leaves out what is done", func(t *testing.T) {
		g, r, j := setUp(t)
		on := true
		message, err := r.Run(t.Context(), &switchStep{name: "a", on: off()}, &switchStep{name: "b", on: &on})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(message).To(Equal("the switch"))
		g.Expect(events(j)).To(Equal([]string{"x/a started", "x/a finished", "x/b already-done"}))
	})

	t.Run("stops at the first failure", func(t *testing.T) {
		g, r, j := setUp(t)
		later := &switchStep{name: "b", on: off()}
		_, err := r.Run(t.Context(), &switchStep{name: "a", on: off(), run: func(context.Context) error { return errors.New("no") }}, later)
		g.Expect(err).To(MatchError("no"))
		g.Expect(later.asked).To(BeZero())
		g.Expect(events(j)).To(Equal([]string{"x/a started", "x/a failed"}))
	})

	t.Run("does not believe a step that says it is done when the world does not", func(t *testing.T) {
		g, r, _ := setUp(t)
		on := off()
		_, err := r.Run(t.Context(), Func{Label: "a", Within: time.Minute,
			IsDone: func(context.Context) (bool, string, error) { return *on, "still off", nil },
			Do:     func(context.Context) (string, error) { return "all fine", nil }})
		g.Expect(err).To(MatchError(ContainSubstring("is not done: still off")))
	})

	t.Run("fails a step whose world cannot be looked at, without running it", func(t *testing.T) {
		g, r, _ := setUp(t)
		step := &switchStep{name: "a", on: off(), doneErr: errors.New("cannot see")}
		_, err := r.Run(t.Context(), step)
		g.Expect(err).To(MatchError(ContainSubstring("cannot see")))
		g.Expect(step.ran).To(BeZero())
	})

	t.Run("names the deadline that a step has passed", func(t *testing.T) {
		g, r, _ := setUp(t)
		step := &switchStep{name: "a", on: off(), within: time.Millisecond, run: func(ctx context.Context) error {
			<-ctx.Done()
			return ctx.Err()
		}}
		_, err := r.Run(t.Context(), step)
		g.Expect(err).To(MatchError(ContainSubstring("a took longer than its deadline of 1ms")))
	})

	t.Run("puts the world back after a failure, even one of time, and says so", func(t *testing.T) {
		g, r, j := setUp(t)
		step := &undoStep{switchStep: &switchStep{name: "a", on: off(), within: time.Millisecond, run: func(ctx context.Context) error {
			<-ctx.Done()
			return ctx.Err()
		}}, undoneBy: func(ctx context.Context) error { return ctx.Err() }}
		_, err := r.Run(t.Context(), step)
		var undone *UndoneError
		g.Expect(errors.As(err, &undone)).To(BeTrue())
		g.Expect(err).To(MatchError(ContainSubstring("Switched off again")))
		g.Expect(step.undone).To(BeTrue())
		g.Expect(events(j)).To(Equal([]string{"x/a started", "x/a failed", "x/a undone"}))
	})

	t.Run("tells both failures when the world cannot be put back", func(t *testing.T) {
		g, r, j := setUp(t)
		step := &undoStep{switchStep: &switchStep{name: "a", on: off(), run: func(context.Context) error { return errors.New("no") }},
			undoneBy: func(context.Context) error { return errors.New("stuck") }}
		_, err := r.Run(t.Context(), step)
		g.Expect(err).To(MatchError(And(ContainSubstring("no"), ContainSubstring("stuck"))))
		var undone *UndoneError
		g.Expect(errors.As(err, &undone)).To(BeFalse())
		g.Expect(events(j)).To(HaveLen(3))
	})

	t.Run("leaves the world where it is when the whole run is told to end", func(t *testing.T) {
		g, r, _ := setUp(t)
		ctx, cancel := context.WithCancel(t.Context())
		step := &undoStep{switchStep: &switchStep{name: "a", on: off(), run: func(context.Context) error {
			cancel()
			return errors.New("cut")
		}}}
		_, err := r.Run(ctx, step)
		g.Expect(err).To(HaveOccurred())
		g.Expect(step.undone).To(BeFalse())
	})
}
