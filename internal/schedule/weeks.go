package schedule

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"
)

// lastWeek is the highest ISO 8601 week that a year can have.
const lastWeek = 53

// weeks is a set of ISO weeks, 1 to 53: a bit each.
type weeks uint64

func (w weeks) has(week int) bool { return w&(1<<week) != 0 }

func (w weeks) count() int { return bits.OnesCount64(uint64(w)) }

// String lists the weeks in ranges, e.g. "1-3, 52-53".
func (w weeks) String() string {
	var ranges []string
	for first := 1; first <= lastWeek; first++ {
		if !w.has(first) {
			continue
		}
		last := first
		for w.has(last + 1) {
			last++
		}
		if last == first {
			ranges = append(ranges, strconv.Itoa(first))
		} else {
			ranges = append(ranges, fmt.Sprintf("%d-%d", first, last))
		}
		first = last
	}
	return strings.Join(ranges, ", ")
}

// parseWeeks reads the field isoWeek. The errors are FieldErrors.
func parseWeeks(value string) (weeks, error) {
	var odd, even weeks
	for week := 1; week <= lastWeek; week++ {
		if week%2 == 1 {
			odd |= 1 << week
		} else {
			even |= 1 << week
		}
	}
	switch value {
	case "":
		return odd | even, nil
	case "@odd":
		return odd, nil
	case "@even":
		return even, nil
	}
	week, err := strconv.ParseUint(value, 10, 64)
	if err != nil || len(value) > 2 || week < 1 || week > lastWeek {
		return 0, &FieldError{Field: fieldISOWeek, Value: value, Problem: "is no ISO week",
			Remedy: "write @odd, @even or a week from 1 to 53, or leave it empty for every week"}
	}
	return 1 << week, nil
}

// describeWeeks is the field isoWeek in words: "odd weeks", "week 7", or nothing for every week.
func describeWeeks(value string) string {
	switch value {
	case "":
		return ""
	case "@odd", "@even":
		return value[1:] + " weeks"
	default:
		return "week " + strings.TrimPrefix(value, "0")
	}
}
