package host

import (
	"context"
	"fmt"
	"time"
)

// Wait asks again at each interval until the answer is yes. The error after the deadline says what was waited for and what the
// last answer was. check returns what is missing; an empty string means yes.
func (h *Host) Wait(ctx context.Context, what string, interval, deadline time.Duration, check func(ctx context.Context) (missing string)) error {
	// The clock decides; the context also ends a check that hangs.
	ctx, cancel := context.WithTimeoutCause(ctx, deadline, fmt.Errorf("not within %s", deadline))
	defer cancel()
	began := h.Clock.Now()
	ticker := h.Clock.NewTicker(interval)
	defer ticker.Stop()
	for last := ""; ; {
		missing := check(ctx)
		if missing == "" {
			return nil
		}
		if missing != last && ctx.Err() == nil {
			h.Log.Say("waiting for %s: %s", what, missing)
			last = missing
		}
		if h.Clock.Since(began) >= deadline {
			return fmt.Errorf("%s: not within %s; last seen: %s", what, deadline, last)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s: %w; last seen: %s", what, context.Cause(ctx), last)
		case <-ticker.C():
		}
	}
}

// Retry does something up to attempts times, with a pause between that doubles. It gives up at once where again says so.
func (h *Host) Retry(ctx context.Context, what string, attempts int, pause time.Duration, again func(error) bool, do func(ctx context.Context) error) error {
	for attempt := 1; ; attempt++ {
		err := do(ctx)
		if err == nil || attempt >= attempts || !again(err) {
			return err
		}
		h.Log.Say("%s failed, attempt %d of %d, again in %s: %v", what, attempt, attempts, pause, err)
		timer := h.Clock.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return fmt.Errorf("%w (no further attempt: %w)", err, context.Cause(ctx))
		case <-timer.C():
		}
		pause *= 2
	}
}
