package invariant

import "time"

// mirrorLag is how long the API may show the old pod of an API server whose host runs the new one: the kubelet, which comes up
// with it, replaces its mirror pods once it can.
const mirrorLag = 30 * time.Second

// lasting tells what has been seen in every look for a while from what the API only shows late.
type lasting struct{ since map[string]time.Time }

// over takes what was found in this look, and returns what has been found in every look for longer than d.
func (l *lasting) over(found []string, now time.Time, d time.Duration) []string {
	since := map[string]time.Time{}
	var out []string
	for _, f := range found {
		begun, known := l.since[f]
		if !known {
			begun = now
		}
		since[f] = begun
		if now.Sub(begun) > d {
			out = append(out, f)
		}
	}
	l.since = since
	return out
}
