package schedule

import (
	"cmp"
	"time"
)

// Suspension is a span of time in which no upgrade is to start. Both ends belong to it; one that ends before it starts covers nothing.
type Suspension struct {
	Name, Reason string
	Start, End   time.Time
}

// Covers says whether an instant is in the suspension.
func (s Suspension) Covers(t time.Time) bool { return !t.Before(s.Start) && !t.After(s.End) }

// Suspended is the suspension that covers an instant: of several the one that ends last, and of those the first by name. False where
// none does.
func Suspended(all []Suspension, t time.Time) (Suspension, bool) {
	var found *Suspension
	for i := range all {
		s := &all[i]
		if s.Covers(t) && (found == nil || cmp.Or(s.End.Compare(found.End), cmp.Compare(found.Name, s.Name)) > 0) {
			found = s
		}
	}
	if found == nil {
		return Suspension{}, false
	}
	return *found, true
}
