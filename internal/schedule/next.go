package schedule

import "time"

// Next is the first firing strictly after an instant, on the schedule's clock; false where there is none, which is so for the zero
// Schedule alone.
func (s *Schedule) Next(after time.Time) (time.Time, bool) {
	w, ok := s.atOrAfter(firstAfter(after, s.Location()))
	if !ok {
		return time.Time{}, false
	}
	return w.instant(s.Location()), true
}

// NextN is the first n firings strictly after an instant, in order.
func (s *Schedule) NextN(after time.Time, n int) []time.Time {
	var firings []time.Time
	for range n {
		next, ok := s.Next(after)
		if !ok {
			break
		}
		firings = append(firings, next)
		after = next
	}
	return firings
}

// latest is the last firing at an instant or before it.
func (s *Schedule) latest(until time.Time) (time.Time, bool) {
	w, ok := s.atOrBefore(firstAfter(until, s.Location()) - 1)
	if !ok {
		return time.Time{}, false
	}
	return w.instant(s.Location()), true
}

// atOrAfter is the first minute of the schedule, on the local clock, that is the given one or later.
func (s *Schedule) atOrAfter(w wall) (wall, bool) {
	if s.Never() {
		return 0, false
	}
	today, minute := w.split()
	day, ok := s.days.atOrAfter(today)
	if ok && day == today {
		if found := s.minutes.atOrAfter(minute); found >= 0 {
			return wallAt(day, found), true
		}
		day, ok = s.days.atOrAfter(today + 1)
	}
	return wallAt(day, s.minutes.atOrAfter(0)), ok
}

// atOrBefore is the last minute of the schedule, on the local clock, that is the given one or earlier.
func (s *Schedule) atOrBefore(w wall) (wall, bool) {
	if s.Never() {
		return 0, false
	}
	today, minute := w.split()
	day, ok := s.days.atOrBefore(today)
	if ok && day == today {
		if found := s.minutes.atOrBefore(minute); found >= 0 {
			return wallAt(day, found), true
		}
		day, ok = s.days.atOrBefore(today - 1)
	}
	return wallAt(day, s.minutes.atOrBefore(minutesPerDay-1)), ok
}
