package schedule

import (
	"strings"
	"time"

	"github.com/robfig/cron/v3"
)

// Spec is a schedule as it is written in a manifest.
type Spec struct {
	// Cron is an expression of five fields (minute, hour, day of month, month, day of week), or one of @hourly, @daily, @midnight,
	// @weekly, @monthly, @yearly and @annually. Where both days are restricted, either is enough. Required.
	Cron string
	// ISOWeek narrows the schedule to "@odd" or "@even" weeks, or to one week, "1" to "53". Empty is every week.
	ISOWeek string
	// Location is the time zone by its IANA name, e.g. Europe/Zurich. Empty and "UTC" are UTC, "Local" is the zone of the process.
	Location string
}

// Schedule is a parsed Spec. It does not change, and may be shared. The zero Schedule never fires.
type Schedule struct {
	spec     Spec
	location *time.Location
	days     calendar
	minutes  set
}

// Parse reads a schedule. Every error is a *FieldError, of the first field that is wrong: cron, isoWeek, location. A schedule that
// could never fire is an error too.
func Parse(spec Spec) (*Schedule, error) {
	expression, err := parseCron(spec.Cron)
	if err != nil {
		return nil, err
	}
	in, err := parseWeeks(spec.ISOWeek)
	if err != nil {
		return nil, err
	}
	location, err := parseLocation(spec.Location)
	if err != nil {
		return nil, err
	}
	s := &Schedule{
		spec:     spec,
		location: location,
		days:     newCalendar(func(d day) bool { return in.has(int(d.week)) && onDay(expression, d) }),
		minutes:  minutesOfDay(expression),
	}
	if s.Never() {
		return nil, whyNever(spec, expression)
	}
	return s, nil
}

// Never says that the schedule has no firing at all. Parse gives no such schedule: only the zero Schedule is one.
func (s *Schedule) Never() bool { return s.days.empty() || s.minutes.atOrAfter(0) < 0 }

// Location is where the schedule's clock is.
func (s *Schedule) Location() *time.Location {
	if s.location == nil {
		return time.UTC
	}
	return s.location
}

// Week is the ISO 8601 week of an instant, 1 to 53, and the year it belongs to, on the schedule's clock.
func (s *Schedule) Week(t time.Time) (year, week int) { return t.In(s.Location()).ISOWeek() }

// String describes the schedule in short, e.g. "0 22 * * 2, odd weeks, Europe/Zurich". Where it fires in every week, no week is named.
func (s *Schedule) String() string {
	parts := []string{strings.Join(strings.Fields(s.spec.Cron), " ")}
	if w := describeWeeks(s.spec.ISOWeek); w != "" {
		parts = append(parts, w)
	}
	return strings.Join(append(parts, s.Location().String()), ", ")
}

// minutesOfDay is the minutes after midnight, 0 to 1439, at which the expression fires.
func minutesOfDay(c *cron.SpecSchedule) set {
	minutes := newSet(minutesPerDay)
	for i := range minutesPerDay {
		if c.Hour&(1<<(i/60)) != 0 && c.Minute&(1<<(i%60)) != 0 {
			minutes.add(i)
		}
	}
	return minutes
}

// onDay says whether the expression fires on a day: where neither of its two fields for days is a star, either is enough.
func onDay(c *cron.SpecSchedule, d day) bool {
	if c.Month&(1<<d.month) == 0 {
		return false
	}
	dom, dow := c.Dom&(1<<d.dom) != 0, c.Dow&(1<<d.weekday) != 0
	if (c.Dom|c.Dow)&starBit != 0 {
		return dom && dow
	}
	return dom || dow
}
