package schedule_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"refit.dev/refit/internal/schedule"
)

func TestParseRefusesWhatNeverFires(t *testing.T) {
	for _, tc := range []struct {
		name, cron, week, field string
		says                    []string
	}{
		{"30 February", "0 0 30 2 *", "", "cron", []string{"never fires", "up to 29", "another month"}},
		{"30 February in odd weeks is wrong in cron", "0 0 30 2 *", "@odd", "cron", []string{"never fires"}},
		{"the 31st of short months", "0 0 31 2,4,6,9,11 *", "", "cron", []string{"up to 30"}},
		{"1 January in week 20", "0 0 1 1 *", "20", "isoWeek", []string{"only ever in ISO weeks 1, 52-53", "choose such a week", "schedule.cron"}},
		{"4 January in even weeks", "0 0 4 1 *", "@even", "isoWeek", []string{"only ever in ISO week 1:", `"0 0 4 1 *"`}},
		{"11 January in odd weeks", "0 0 11 1 *", "@odd", "isoWeek", []string{"only ever in ISO week 2:"}},
		{"the first of every month in week 3", "0 0 1 * *", "3", "isoWeek", []string{"ISO weeks 1, 5, 9-10, 13-14, 17-18, 22-23"}},
		{"a Monday in week 53 of January", "0 0 * 1 1", "53", "isoWeek", []string{"never comes"}},
		{"29 February in week 10", "0 0 29 2 *", "10", "isoWeek", []string{"only ever in ISO week 9:"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := NewWithT(t)
			_, err := schedule.Parse(schedule.Spec{Cron: tc.cron, ISOWeek: tc.week})
			var wrong *schedule.FieldError
			g.Expect(errors.As(err, &wrong)).To(BeTrue())
			g.Expect(wrong.Field).To(Equal(tc.field))
			for _, part := range tc.says {
				g.Expect(err).To(MatchError(ContainSubstring(part)))
			}
		})
	}
}

// TestEveryDateAndWeek holds what Parse refuses, and the first firing of what it takes, to all days of 400 years, after which the
// calendar repeats.
func TestEveryDateAndWeek(t *testing.T) {
	type date struct {
		month time.Month
		dom   int
	}
	// The first time of each date in each week; weeks 54 and 55 stand for @odd and @even.
	first := map[date]*[56]time.Time{}
	for d := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC); d.Year() < 2400; d = d.AddDate(0, 0, 1) {
		key := date{d.Month(), d.Day()}
		if first[key] == nil {
			first[key] = new([56]time.Time)
		}
		_, week := d.ISOWeek()
		for _, w := range []int{week, 55 - week%2} {
			if first[key][w].IsZero() {
				first[key][w] = d
			}
		}
	}
	before := time.Date(1999, 12, 31, 23, 59, 59, 0, time.UTC)
	for month := time.January; month <= time.December; month++ {
		for dom := 1; dom <= 31; dom++ {
			for w := 1; w <= 55; w++ {
				spec := schedule.Spec{Cron: fmt.Sprintf("0 0 %d %d *", dom, month), ISOWeek: map[int]string{54: "@odd", 55: "@even"}[w]}
				if w <= 53 {
					spec.ISOWeek = fmt.Sprintf("%02d", w)
				}
				var want time.Time
				if f := first[date{month, dom}]; f != nil {
					want = f[w]
				}
				s, err := schedule.Parse(spec)
				if (err != nil) != want.IsZero() {
					t.Fatalf("%+v: %v, though it first fires on %s", spec, err, want)
				}
				if err != nil {
					continue
				}
				if got, ok := s.Next(before); !ok || !got.Equal(want) {
					t.Fatalf("%+v first fires at %s, not at %s", spec, want, got)
				}
			}
		}
	}
}

// TestEveryWeekOf400Years walks the whole cycle of the calendar, from before the epoch on.
func TestEveryWeekOf400Years(t *testing.T) {
	for _, week := range []int{1, 9, 52, 53} {
		s := parsed(t, "0 0 * * *", fmt.Sprint(week), "UTC")
		at := time.Date(1799, 12, 31, 12, 0, 0, 0, time.UTC)
		for d := at.Add(12 * time.Hour); d.Year() < 2201; d = d.AddDate(0, 0, 1) {
			if _, w := d.ISOWeek(); w != week {
				continue
			}
			next, ok := s.Next(at)
			if !ok || !next.Equal(d) {
				t.Fatalf("week %d: after %s comes %s, not %s", week, at, d, next)
			}
			at = next
		}
	}
}
