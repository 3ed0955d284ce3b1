package main

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// lines writes whole lines, whoever says something.
type lines struct {
	mu    sync.Mutex
	out   io.Writer
	clock clock.WithTicker
}

func (l *lines) say(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	fmt.Fprintf(l.out, format+"\n", args...)
}

// change is a line with the time of day.
func (l *lines) change(line string) { l.say("%s  %s", l.clock.Now().Format(time.TimeOnly), line) }

// unlessEnded gives the error, but only says it once the context has ended: what is broken off then was meant to be.
func (l *lines) unlessEnded(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		return err
	}
	l.say("Broken off: %s", err)
	return nil
}
