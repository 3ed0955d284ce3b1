package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"time"
)

// result is what the benchmark writes.
type result struct {
	When       time.Time  `json:"when"`
	Processors int        `json:"processors"`
	Fail       float64    `json:"failPercent"`
	Figures    []*figures `json:"figures"`
	Verdicts   []verdict  `json:"verdicts"`
}

// bench measures one size after another. It never fails by what it measures.
func bench(ctx context.Context, s settings, p programs, out io.Writer) error {
	r := result{When: time.Now().UTC().Truncate(time.Second), Processors: runtime.NumCPU(), Fail: s.fail}
	if len(s.sizes) == 1 && s.kill != 0 {
		s.kill = s.sizes[0]
	}
	for _, size := range s.sizes {
		say(out, "== %d workers", size)
		f, err := rollout(ctx, s, size, p, out)
		if ctx.Err() != nil {
			fmt.Fprintln(out, "Broken off; nothing is left running.")
			return nil
		}
		if err != nil {
			return fmt.Errorf("%d workers: %w", size, err)
		}
		f.print(out)
		r.Figures = append(r.Figures, f)
		slices.SortFunc(r.Figures, func(a, b *figures) int { return cmp.Compare(a.Nodes, b.Nodes) }) // they may be measured in any order
		r.Verdicts = verdicts(r.Figures)
		if err := r.write(s); err != nil {
			return err
		}
	}
	fmt.Fprintln(out)
	table(out, r.Figures)
	fmt.Fprintln(out)
	for _, v := range r.Verdicts {
		word := "holds"
		if !v.Holds {
			word = "DOES NOT HOLD"
		}
		fmt.Fprintf(out, "%-14s %s (%s)\n", word, v.What, v.Seen)
	}
	return nil
}

// write keeps the figures and the plot, where files are named for them.
func (r *result) write(s settings) error {
	if s.json != "" {
		text, err := json.MarshalIndent(r, "", "  ")
		if err != nil {
			return err
		}
		if err := os.WriteFile(s.json, append(text, '\n'), 0o644); err != nil {
			return fmt.Errorf("write the figures: %w", err)
		}
	}
	if s.plot != "" && len(r.Figures) > 1 {
		if err := os.WriteFile(s.plot, plot(r.Figures), 0o644); err != nil {
			return fmt.Errorf("write the plot: %w", err)
		}
	}
	return nil
}
