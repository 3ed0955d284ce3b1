// Package report tells an operator what an upgrade did on a node.
package report

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"refit.dev/refit/internal/node/spec"
	"refit.dev/refit/internal/sequence"
)

// line is what became of one step.
type line struct {
	name, state, message string
	attempts             int
	seconds              float64
}

// Write writes a summary of an upgrade's journal, one line a step; the stages inside a step are indented.
func Write(out io.Writer, root, uid string) error {
	records, err := sequence.ReadJournal(filepath.Join(root, spec.JournalPath(uid)))
	if err != nil {
		return err
	}
	if len(records) == 0 {
		_, err := fmt.Fprintf(out, "no journal of upgrade %s on this node\n", uid)
		return err
	}
	took := records[len(records)-1].Time.Sub(records[0].Time).Round(time.Second)
	if _, err := fmt.Fprintf(out, "upgrade %s, began %s, %s in all\n", uid, records[0].Time.Format(time.RFC3339), took); err != nil {
		return err
	}
	for _, l := range lines(records) {
		indent := strings.Repeat("  ", strings.Count(l.name, "/"))
		tries := ""
		if l.attempts > 1 {
			tries = fmt.Sprintf(" (attempt %d)", l.attempts)
		}
		if _, err := fmt.Fprintf(out, "%-34s %-12s %7.1fs  %s%s\n", indent+l.name, l.state, l.seconds, l.message, tries); err != nil {
			return err
		}
	}
	return nil
}

// lines sums the records up, in the order in which the steps first appear.
func lines(records []sequence.Record) []line {
	var all []line
	index := map[string]int{}
	for _, r := range records {
		i, known := index[r.Step]
		if !known {
			i = len(all)
			index[r.Step] = i
			all = append(all, line{name: r.Step})
		}
		l := &all[i]
		l.attempts = max(l.attempts, r.Attempt)
		if r.Event == sequence.AlreadyDone && l.state == string(sequence.Finished) {
			continue // seen again by a later attempt
		}
		l.state, l.message = string(r.Event), r.Message
		if r.Seconds > 0 {
			l.seconds = r.Seconds
		}
	}
	return all
}
