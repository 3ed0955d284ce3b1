package schedule_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// rule is a schedule as the model has it: the values of each field in plain lists. It is read from the text without any code of the
// package or of its parser.
type rule struct {
	minute, hour, dom, month, dow [60]bool
	domStar, dowStar              bool
	week                          string
}

func ruleOf(t testing.TB, cron, week string) *rule {
	t.Helper()
	fields := strings.Split(cron, " ")
	if len(fields) != 5 {
		t.Fatalf("the model reads five fields, not %q", cron)
	}
	r := &rule{week: week}
	number := func(text string) int {
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	read := func(values *[60]bool, text string, lowest, highest int) (star bool) {
		for part := range strings.SplitSeq(text, ",") {
			span, every, stepped := strings.Cut(part, "/")
			step := 1
			if stepped {
				step = number(every)
			}
			low, high, ranged := strings.Cut(span, "-")
			from, to := lowest, highest
			switch {
			case span == "*":
				star = star || step == 1
			case ranged:
				from, to = number(low), number(high)
			case stepped:
				from = number(low)
			default:
				from, to = number(low), number(low)
			}
			for i := from; i <= to; i += step {
				values[i] = true
			}
		}
		return star
	}
	read(&r.minute, fields[0], 0, 59)
	read(&r.hour, fields[1], 0, 23)
	r.domStar = read(&r.dom, fields[2], 1, 31)
	read(&r.month, fields[3], 1, 12)
	r.dowStar = read(&r.dow, fields[4], 0, 6)
	return r
}

// fires says whether a local time, whatever the zone of the value, is one of the rule.
func (r *rule) fires(local time.Time) bool {
	if !r.minute[local.Minute()] || !r.hour[local.Hour()] || !r.month[local.Month()] {
		return false
	}
	dom, dow := r.dom[local.Day()], r.dow[local.Weekday()]
	if !dom && !dow || (r.domStar || r.dowStar) && !(dom && dow) {
		return false
	}
	// A week belongs to the year that its Thursday is in.
	thursday := local.AddDate(0, 0, 4-(int(local.Weekday())+6)%7-1)
	week := (thursday.YearDay()-1)/7 + 1
	switch r.week {
	case "":
		return true
	case "@odd":
		return week%2 == 1
	case "@even":
		return week%2 == 0
	default:
		return strconv.Itoa(week) == r.week
	}
}

// walk is what each rule fires from an instant until before another, in seconds of Unix time: every minute of UTC in turn, with what
// a clock on the wall shows. Where that clock goes on, the minutes that it came to are due, more than one of them after a jump; where
// it shows what it had shown before, nothing is.
func walk(location *time.Location, from, until time.Time, rules ...*rule) [][]int64 {
	firings := make([][]int64, len(rules))
	shows := func(at int64) int64 {
		_, ahead := time.Unix(at, 0).In(location).Zone()
		return at + int64(ahead)
	}
	at := from.Add(-72 * time.Hour).Unix()
	shown := shows(at)
	for ; at < until.Unix(); at += 60 {
		for now := shows(at); shown < now; {
			shown += 60
			local := time.Unix(shown, 0).UTC()
			for i, r := range rules {
				if at >= from.Unix() && r.fires(local) && (len(firings[i]) == 0 || firings[i][len(firings[i])-1] != at) {
					firings[i] = append(firings[i], at)
				}
			}
		}
	}
	return firings
}

// lastUntil is the last of the instants that is the given one or earlier.
func lastUntil(firings []int64, at int64) (int64, bool) {
	i, found := slices.BinarySearch(firings, at)
	if found {
		return at, true
	}
	if i == 0 {
		return 0, false
	}
	return firings[i-1], true
}
