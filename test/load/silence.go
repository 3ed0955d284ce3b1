package load

import (
	"slices"
	"time"
)

// silence adds up the times in which nothing was answered: from a failed request's start to the next answer of any
// request, or where none came any more to the last failure's end.
func silence(spans []span) time.Duration {
	spans = slices.Clone(spans)
	slices.SortFunc(spans, func(a, b span) int { return a.sent.Compare(b.sent) })
	var answers []time.Time
	for _, s := range spans {
		if s.ok {
			answers = append(answers, s.ended)
		}
	}
	slices.SortFunc(answers, time.Time.Compare)
	var total time.Duration
	var until time.Time
	for _, s := range spans {
		if s.ok || s.sent.Before(until) {
			continue
		}
		until = s.ended
		if i, _ := slices.BinarySearchFunc(answers, s.sent, time.Time.Compare); i < len(answers) {
			until = answers[i]
		}
		if until.After(s.sent) {
			total += until.Sub(s.sent)
		}
	}
	return total
}
