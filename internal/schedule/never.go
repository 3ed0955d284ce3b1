package schedule

import (
	"fmt"
	"strings"

	"github.com/robfig/cron/v3"
)

// whyNever says of a schedule that can never fire what keeps it from it: the cron expression alone, or the week that its days are
// never in.
func whyNever(spec Spec, c *cron.SpecSchedule) *FieldError {
	var in weeks
	longest := 0
	for _, year := range almanac() {
		for _, d := range year {
			if c.Month&(1<<d.month) != 0 {
				longest = max(longest, int(d.dom))
			}
			if onDay(c, d) {
				in |= 1 << d.week
			}
		}
	}
	if in == 0 {
		return &FieldError{
			Field: fieldCron, Value: spec.Cron,
			Problem: "never fires, as no month in its fourth field has a day of its third",
			Remedy:  fmt.Sprintf("choose a day of month up to %d, or another month", longest),
		}
	}
	such := "week"
	if in.count() > 1 {
		such = "weeks"
	}
	return &FieldError{
		Field: fieldISOWeek, Value: spec.ISOWeek,
		Problem: fmt.Sprintf("never comes: the days of schedule.cron %q are only ever in ISO %s %s", strings.Join(strings.Fields(spec.Cron), " "), such, in),
		Remedy:  "choose such a week, leave schedule.isoWeek empty for every week, or change the day or the month in schedule.cron",
	}
}
