package schedule

import (
	"fmt"
	"strings"

	"github.com/robfig/cron/v3"
)

// starBit is what robfig/cron sets in a field that holds a star (or a question mark) without a step; see its spec.go.
const starBit = 1 << 63

const descriptors = "@hourly, @daily, @midnight, @weekly, @monthly, @yearly or @annually"

// cronParts are the fields of an expression in their order, and what may stand in each.
var cronParts = []struct{ name, allowed string }{
	{"minute", "0-59"},
	{"hour", "0-23"},
	{"day of month", "1-31"},
	{"month", "1-12 or JAN-DEC"},
	{"day of week", "0-6 or SUN-SAT (Sunday is 0 or SUN, not 7)"},
}

// parseCron reads an expression with robfig/cron v3, of which only the parser is used, as its clock rules are not ours. The errors are
// FieldErrors.
func parseCron(value string) (*cron.SpecSchedule, error) {
	wrong := func(problem, remedy string) error {
		return &FieldError{Field: fieldCron, Value: value, Problem: problem, Remedy: remedy}
	}
	fields := strings.Fields(value)
	switch {
	case len(fields) == 0:
		return nil, wrong("is empty", `write five fields, e.g. "0 22 * * 2" for Tuesdays at 22:00, or one of `+descriptors)
	case strings.HasPrefix(fields[0], "TZ="), strings.HasPrefix(fields[0], "CRON_TZ="):
		return nil, wrong("holds a time zone", "write the zone in schedule.location, and only the five fields in schedule.cron")
	case fields[0] == "@every":
		return nil, wrong("has no time of day", `a maintenance window needs one: write five fields, e.g. "0 22 * * 2" for Tuesdays at 22:00`)
	case strings.HasPrefix(fields[0], "@"):
		c, ok := standard(strings.Join(fields, " "))
		if !ok {
			return nil, wrong("is unknown", "write "+descriptors+", or five fields")
		}
		return c, nil
	case len(fields) != len(cronParts):
		return nil, wrong(fmt.Sprintf("has %d fields", len(fields)),
			`write five (minute, hour, day of month, month, day of week; no seconds), e.g. "0 22 * * 2" for Tuesdays at 22:00`)
	}
	for i, part := range cronParts {
		if !validPart(i, fields[i]) {
			return nil, wrong(fmt.Sprintf("has a wrong %s, %q", part.name, fields[i]),
				"write * or "+part.allowed+`, single, as a range "a-b" or as a list "a,b", with an optional step "/n"`)
		}
	}
	c, ok := standard(strings.Join(fields, " "))
	if !ok {
		return nil, wrong("is not a cron expression", `write five fields, e.g. "0 22 * * 2" for Tuesdays at 22:00`)
	}
	return c, nil
}

// standard is an expression as robfig/cron reads it; false for what it refuses, and for what is no set of local times (@every).
func standard(expression string) (*cron.SpecSchedule, bool) {
	parsed, err := cron.ParseStandard(expression)
	if err != nil {
		return nil, false
	}
	c, ok := parsed.(*cron.SpecSchedule)
	return c, ok
}

// validPart says whether one of the five fields stands on its own, and names some value: the parser lets a lone comma pass.
func validPart(i int, field string) bool {
	expression := []string{"*", "*", "*", "*", "*"}
	expression[i] = field
	c, ok := standard(strings.Join(expression, " "))
	if !ok {
		return false
	}
	return []uint64{c.Minute, c.Hour, c.Dom, c.Month, c.Dow}[i]&^starBit != 0
}
