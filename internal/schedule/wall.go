package schedule

import (
	"iter"
	"math"
	"time"
)

// wall is a minute that a local clock shows, counted from 00:00 on 1 January 1970 as if its offset never changed.
type wall int64

const (
	minutesPerDay = 24 * 60
	secondsPerDay = 24 * 60 * 60
	// maxOffset in seconds is more than any clock is ahead of or behind UTC, or is changed at once.
	maxOffset = 2 * secondsPerDay
)

// wallAt is the minute of a day, both counted from 0.
func wallAt(day int64, minute int) wall { return wall(day*minutesPerDay + int64(minute)) }

// split is the day and the minute of the day.
func (w wall) split() (day int64, minute int) {
	day = floorDiv(int64(w), minutesPerDay)
	return day, int(int64(w) - day*minutesPerDay)
}

// firstAfter is the first minute that the clock has not yet shown at an instant. A clock that has gone back has shown the minutes that
// it is to repeat.
func firstAfter(t time.Time, location *time.Location) wall {
	now := t.Unix()
	shown := int64(math.MinInt64)
	for o := range offsets(now-maxOffset, location) {
		shown = max(shown, min(now, o.end-1)+o.seconds)
		if o.end > now {
			break
		}
	}
	return wall(floorDiv(shown, 60) + 1)
}

// instant is when the clock first shows a minute, or has first jumped over it.
func (w wall) instant(location *time.Location) time.Time {
	var found int64
	for o := range offsets(int64(w)*60-maxOffset, location) {
		// Earlier offsets end before the minute, so one that would come before the start is in a gap that ends there.
		found = max(int64(w)*60-o.seconds, o.start)
		if found < o.end {
			break
		}
	}
	return time.Unix(found, 0).In(location)
}

// offset is how many seconds a clock is ahead of UTC from start until before end, in seconds of Unix time.
type offset struct{ start, end, seconds int64 }

// offsets is the offsets of a place from an instant on, in order and without a hole. One that goes on may come in pieces.
func offsets(from int64, location *time.Location) iter.Seq[offset] {
	return func(yield func(offset) bool) {
		for start := from; ; {
			t := time.Unix(start, 0).In(location)
			_, seconds := t.Zone()
			end := int64(math.MaxInt64)
			if _, bound := t.ZoneBounds(); !bound.IsZero() {
				end = bound.Unix()
			}
			// Go ends every year of a zone's far future after 365 days, so on 31 December of a leap year the end can be past. No
			// clock changes in the rest of that day.
			if end <= start {
				end = start + 60*60
			}
			if !yield(offset{start: start, end: end, seconds: int64(seconds)}) || end == math.MaxInt64 {
				return
			}
			start = end
		}
	}
}

// floorDiv divides and rounds down, below zero too.
func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
