package fakehost

import (
	"time"

	"k8s.io/utils/clock"
)

// FastClock is a real clock on which time passes Factor times as fast, so that a test need not wait.
type FastClock struct {
	start  time.Time
	factor time.Duration
}

var _ clock.WithTicker = FastClock{}

// NewFastClock is a clock that shows the time of now, and then runs factor times as fast.
func NewFastClock(factor int) FastClock {
	return FastClock{start: time.Now(), factor: time.Duration(factor)}
}

// Now is the time on this clock.
func (c FastClock) Now() time.Time { return c.start.Add(time.Since(c.start) * c.factor) }

// Since is the time on this clock since t.
func (c FastClock) Since(t time.Time) time.Duration { return c.Now().Sub(t) }

// After waits on this clock.
func (c FastClock) After(d time.Duration) <-chan time.Time { return time.After(c.real(d)) }

// Sleep waits on this clock.
func (c FastClock) Sleep(d time.Duration) { <-c.After(d) }

// Tick ticks on this clock.
func (c FastClock) Tick(d time.Duration) <-chan time.Time { return clock.RealClock{}.Tick(c.real(d)) }

// NewTimer is a timer on this clock.
func (c FastClock) NewTimer(d time.Duration) clock.Timer {
	return clock.RealClock{}.NewTimer(c.real(d))
}

// NewTicker is a ticker on this clock.
func (c FastClock) NewTicker(d time.Duration) clock.Ticker {
	return clock.RealClock{}.NewTicker(c.real(d))
}

func (c FastClock) real(d time.Duration) time.Duration { return max(d/c.factor, 50*time.Microsecond) }
