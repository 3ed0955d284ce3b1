package schedule

import (
	"sync"
	"time"
)

// kind is what a year looks like: the weekday of 1 January, and whether it or the year before is a leap year. The latter counts because
// a 1 January that is a Saturday is in week 53 after a leap year, and else in week 52. All 21 kinds come in every 28 years without a
// turn of a century that is no leap year, so a schedule that fires in none of the kinds never fires.
type kind int

const (
	kinds = 21
	// From firstYear to lastYear every kind is met.
	firstYear, lastYear = 2000, 2027
	maxDaysOfYear       = 366
)

func kindOf(year int) kind {
	weekday := int(time.Date(year, time.January, 1, 0, 0, 0, 0, time.UTC).Weekday())
	switch {
	case leap(year):
		return kind(14 + weekday)
	case leap(year - 1):
		return kind(7 + weekday)
	default:
		return kind(weekday)
	}
}

func leap(year int) bool { return year%4 == 0 && (year%100 != 0 || year%400 == 0) }

// day is what cron and the ISO week see of a day.
type day struct {
	month, dom, weekday, week uint8
}

// almanac is the days of a year of each kind, in order.
var almanac = sync.OnceValue(func() *[kinds][]day {
	var years [kinds][]day
	for year := firstYear; year <= lastYear; year++ {
		k := kindOf(year)
		years[k] = nil
		for t := time.Date(year, time.January, 1, 0, 0, 0, 0, time.UTC); t.Year() == year; t = t.AddDate(0, 0, 1) {
			_, week := t.ISOWeek()
			years[k] = append(years[k], day{month: uint8(t.Month()), dom: uint8(t.Day()), weekday: uint8(t.Weekday()), week: uint8(week)})
		}
	}
	return &years
})
