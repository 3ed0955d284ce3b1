package print

import (
	"fmt"
	"io"
	"time"

	"k8s.io/utils/clock"
)

// Progress shows how far a long transfer is: on a terminal a line that changes, elsewhere a line now and then.
type Progress struct {
	w        io.Writer
	clock    clock.PassiveClock
	terminal bool
	what     string
	start    time.Time
	last     time.Time
	shown    bool
}

// NewProgress begins to show something, e.g. "push".
func NewProgress(w io.Writer, c clock.PassiveClock, terminal bool, what string) *Progress {
	now := c.Now()
	return &Progress{w: w, clock: c, terminal: terminal, what: what, start: now, last: now}
}

// Bytes says that so many bytes of so many are done.
func (p *Progress) Bytes(done, total int64) {
	now := p.clock.Now()
	every := 5 * time.Second
	if p.terminal {
		every = 200 * time.Millisecond
	}
	if now.Sub(p.last) < every || total == 0 {
		return
	}
	p.last, p.shown = now, true
	elapsed := now.Sub(p.start)
	text := fmt.Sprintf("%s: %d of %d MB, %s", p.what, done>>20, total>>20, Duration(elapsed))
	if done > 0 && done < total {
		left := time.Duration(float64(elapsed) * float64(total-done) / float64(done))
		text += fmt.Sprintf(", about %s left", Duration(left))
	}
	if p.terminal {
		_, _ = fmt.Fprintf(p.w, "\r\033[K%s", text)
		return
	}
	_, _ = fmt.Fprintln(p.w, text)
}

// End ends the line, where there is one.
func (p *Progress) End() {
	if p.terminal && p.shown {
		_, _ = fmt.Fprint(p.w, "\r\033[K")
	}
}
