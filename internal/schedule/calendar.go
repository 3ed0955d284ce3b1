package schedule

import "time"

// calendar is the days on which a schedule fires, by the kind of year: in each the days after 1 January, 0 to 365.
type calendar [kinds]set

// cycle is after how many years the Gregorian calendar repeats, weekdays included: 146097 days are 20871 weeks.
const cycle = 400

func newCalendar(fires func(day) bool) calendar {
	var c calendar
	for k, days := range almanac() {
		c[k] = newSet(maxDaysOfYear)
		for i, d := range days {
			if fires(d) {
				c[k].add(i)
			}
		}
	}
	return c
}

// empty says that there is no such day in any year.
func (c *calendar) empty() bool {
	for _, days := range c {
		if days.atOrAfter(0) >= 0 {
			return false
		}
	}
	return true
}

// atOrAfter is the first day of the calendar that is the given one or later. Days are counted from 1 January 1970.
func (c *calendar) atOrAfter(day int64) (int64, bool) {
	year, i := yearOf(day)
	for last := year + cycle; year <= last; year, i = year+1, 0 {
		if found := c[kindOf(year)].atOrAfter(i); found >= 0 {
			return newYear(year) + int64(found), true
		}
	}
	return 0, false
}

// atOrBefore is the last day of the calendar that is the given one or earlier.
func (c *calendar) atOrBefore(day int64) (int64, bool) {
	year, i := yearOf(day)
	for first := year - cycle; year >= first; year, i = year-1, maxDaysOfYear-1 {
		if found := c[kindOf(year)].atOrBefore(i); found >= 0 {
			return newYear(year) + int64(found), true
		}
	}
	return 0, false
}

// yearOf is the year of a day, and how many days it is after 1 January.
func yearOf(day int64) (year, after int) {
	t := time.Unix(day*secondsPerDay, 0).UTC()
	return t.Year(), t.YearDay() - 1
}

// newYear is the day of 1 January.
func newYear(year int) int64 {
	return time.Date(year, time.January, 1, 0, 0, 0, 0, time.UTC).Unix() / secondsPerDay
}
