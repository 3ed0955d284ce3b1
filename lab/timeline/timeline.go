// Package timeline tells a person what is under way, for how long, and about how much is left.
package timeline

import (
	"fmt"
	"io"
	"sort"
	"strings"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// interval is how often something that takes long is mentioned again.
const interval = 5 * time.Second

// Timeline prints a line per finished step, and every few seconds what is under way.
type Timeline struct {
	w     io.Writer
	clock clock.WithTicker
	begun time.Time

	mu      sync.Mutex
	left    time.Duration
	running map[string]started

	stop chan struct{}
	idle sync.WaitGroup
}

type started struct {
	at   time.Time
	cost time.Duration
}

// New starts a timeline on w that expects to last for expected, the sum of the costs on its longest path.
func New(w io.Writer, c clock.WithTicker, expected time.Duration) *Timeline {
	t := &Timeline{w: w, clock: c, begun: c.Now(), left: expected, running: map[string]started{}, stop: make(chan struct{})}
	ticker := c.NewTicker(interval)
	t.idle.Go(func() {
		defer ticker.Stop()
		for {
			select {
			case <-t.stop:
				return
			case <-ticker.C():
				t.remind()
			}
		}
	})
	return t
}

// Do runs one step. Cost is its share of the expected time: 0 for a step beside the longest path. A step of which a
// person would not notice the time (a second) prints nothing unless it fails.
func (t *Timeline) Do(name string, cost time.Duration, step func() error) error {
	t.mu.Lock()
	begun := t.clock.Now()
	t.running[name] = started{at: begun, cost: cost}
	t.mu.Unlock()
	err := step()
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.running, name)
	t.left -= cost
	took := t.clock.Since(begun)
	switch {
	case err != nil:
		t.line("%s: failed after %s", name, round(took))
	case took >= time.Second:
		t.line("%s: done in %s%s", name, round(took), t.remaining())
	}
	return err
}

// Say prints one line.
func (t *Timeline) Say(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.line(format, args...)
}

// Elapsed is the time since the start.
func (t *Timeline) Elapsed() time.Duration { return round(t.clock.Since(t.begun)) }

// Close ends the reminders.
func (t *Timeline) Close() {
	close(t.stop)
	t.idle.Wait()
}

// remind names what is under way, if anything is.
func (t *Timeline) remind() {
	t.mu.Lock()
	defer t.mu.Unlock()
	var now []string
	for name, s := range t.running {
		if since := t.clock.Since(s.at); since >= 2*time.Second {
			now = append(now, fmt.Sprintf("%s (%s)", name, round(since)))
		}
	}
	if len(now) == 0 {
		return
	}
	sort.Strings(now)
	t.line("%s%s", strings.Join(now, ", "), t.remaining())
}

// remaining is the text about the time left: the costs of what is not done, less the time already spent on what runs.
func (t *Timeline) remaining() string {
	left := t.left
	for _, s := range t.running {
		left -= min(t.clock.Since(s.at), s.cost)
	}
	if left = round(left); left <= 0 {
		return ""
	}
	return fmt.Sprintf(", about %s left", left)
}

func (t *Timeline) line(format string, args ...any) {
	fmt.Fprintf(t.w, "  %6s  %s\n", t.Elapsed(), fmt.Sprintf(format, args...))
}

func round(d time.Duration) time.Duration { return d.Round(time.Second) }
