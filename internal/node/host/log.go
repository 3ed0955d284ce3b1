package host

import (
	"bytes"
	"fmt"
	"io"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// Log writes plain lines, each with the time, for an operator.
type Log struct {
	mu    sync.Mutex
	out   io.Writer
	clock clock.PassiveClock
}

// NewLog is a log that writes to out.
func NewLog(out io.Writer, c clock.PassiveClock) *Log { return &Log{out: out, clock: c} }

// Say writes one line.
func (l *Log) Say(format string, args ...any) { l.line(fmt.Sprintf(format, args...)) }

func (l *Log) line(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	// A log that cannot be written must not stop the step that it tells about.
	_, _ = fmt.Fprintf(l.out, "%s %s\n", l.clock.Now().UTC().Format(time.RFC3339), text)
}

// Lines is a writer that writes each line to the log behind a prefix. Flush writes what is left of the last one.
func (l *Log) Lines(prefix string) *LineWriter { return &LineWriter{log: l, prefix: prefix} }

// LineWriter cuts what it is given into lines.
type LineWriter struct {
	log     *Log
	prefix  string
	pending []byte
}

// Write never fails.
func (w *LineWriter) Write(p []byte) (int, error) {
	w.pending = append(w.pending, p...)
	for {
		end := bytes.IndexByte(w.pending, '\n')
		if end < 0 {
			return len(p), nil
		}
		w.log.line(w.prefix + string(bytes.TrimRight(w.pending[:end], "\r")))
		w.pending = w.pending[end+1:]
	}
}

// Flush writes a last line that has no end.
func (w *LineWriter) Flush() {
	if len(w.pending) > 0 {
		w.log.line(w.prefix + string(w.pending))
		w.pending = nil
	}
}
