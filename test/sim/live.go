package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"refit.dev/refit/api/v1alpha1"
)

// screen shows the line of now: in its place on a terminal, else below the last one where it changed, at most every five seconds.
type screen struct {
	out      io.Writer
	terminal bool
	last     string
	shown    time.Time
}

func newScreen(out io.Writer) *screen {
	s := &screen{out: out}
	if f, ok := out.(*os.File); ok {
		if info, err := f.Stat(); err == nil {
			s.terminal = info.Mode()&os.ModeCharDevice != 0
		}
	}
	return s
}

func (s *screen) show(line string) {
	if s.terminal {
		fmt.Fprintf(s.out, "\r\033[K%s", line)
		return
	}
	if line == s.last || time.Since(s.shown) < 5*time.Second {
		return
	}
	s.last, s.shown = line, time.Now()
	fmt.Fprintln(s.out, line)
}

func (s *screen) end() {
	if s.terminal {
		fmt.Fprintln(s.out)
	}
}

func say(out io.Writer, format string, args ...any) {
	fmt.Fprintf(out, "%s  %s\n", time.Now().Format(time.TimeOnly), fmt.Sprintf(format, args...))
}

// line is where the rollout stands now.
func (sim *simulation) line(ctx context.Context, u *v1alpha1.KubernetesUpgrade) string {
	t := sim.ledger.tally()
	var requests int
	for _, m := range sim.managers {
		counts, _ := m.proxy.requests()
		for q, n := range counts {
			if q.Resource != "leases" {
				requests += n
			}
		}
	}
	var memory string
	if leader := sim.leader(ctx); leader != nil {
		now, _ := leader.resident()
		memory = fmt.Sprintf("%d MB", now>>20)
	} else {
		memory = "no leader"
	}
	passed := time.Since(sim.begun)
	parts := []string{
		passed.Round(time.Second).String(),
		string(u.Status.State),
		fmt.Sprintf("done %d/%d", t.done, t.total),
		fmt.Sprintf("in flight %d", t.flying),
		fmt.Sprintf("staged %d", t.staged),
		fmt.Sprintf("staging %d", t.staging),
		fmt.Sprintf("failed %d", t.failed),
		fmt.Sprintf("waiting %d", t.total-t.done-t.flying-t.staged-t.staging-t.failed),
		fmt.Sprintf("%.1f nodes/s", float64(t.done)/passed.Seconds()),
		fmt.Sprintf("out %d, at most %d of %d", t.out, t.mostOut, sim.ledger.limit),
		fmt.Sprintf("%.1f requests/node", float64(requests)/float64(max(1, t.done))),
		memory,
	}
	if waits := sim.waits(); len(waits) > 0 {
		parts = append(parts, fmt.Sprintf("next after %.1f s, p99 %.1f s", quantile(waits, 0.5).Seconds(), quantile(waits, 0.99).Seconds()))
	}
	if t.flying == 0 && u.Status.Waiting != "" {
		parts = append(parts, u.Status.Waiting)
	}
	return strings.Join(parts, " | ")
}
