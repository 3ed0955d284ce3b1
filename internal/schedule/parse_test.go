package schedule_test

import (
	"errors"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"refit.dev/refit/internal/schedule"
)

// parsed is a schedule that must be right.
func parsed(t testing.TB, cron, week, location string) *schedule.Schedule {
	t.Helper()
	s, err := schedule.Parse(schedule.Spec{Cron: cron, ISOWeek: week, Location: location})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// instant reads an instant in RFC 3339.
func instant(t testing.TB, value string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339Nano, value)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// written is the instants in RFC 3339, in the zones that they carry.
func written(all []time.Time) []string {
	var out []string
	for _, t := range all {
		out = append(out, t.Format(time.RFC3339Nano))
	}
	return out
}

func TestParseRefuses(t *testing.T) {
	for _, tc := range []struct {
		name  string
		spec  schedule.Spec
		field string
		says  []string
	}{
		{"no expression", schedule.Spec{}, "cron", []string{"is empty", "five fields", "0 22 * * 2"}},
		{"blanks alone", schedule.Spec{Cron: " \n"}, "cron", []string{"is empty"}},
		{"four fields", schedule.Spec{Cron: "0 22 * *"}, "cron", []string{"has 4 fields", "minute, hour, day of month"}},
		{"seconds", schedule.Spec{Cron: "0 0 22 * * 2"}, "cron", []string{"has 6 fields", "no seconds"}},
		{"a minute of 60", schedule.Spec{Cron: "60 22 * * 2"}, "cron", []string{`wrong minute, "60"`, "0-59"}},
		{"an hour of 24", schedule.Spec{Cron: "0 24 * * 2"}, "cron", []string{`wrong hour, "24"`, "0-23"}},
		{"day 0 of the month", schedule.Spec{Cron: "0 22 0 * *"}, "cron", []string{`wrong day of month, "0"`, "1-31"}},
		{"month 13", schedule.Spec{Cron: "0 22 * 13 *"}, "cron", []string{`wrong month, "13"`, "JAN-DEC"}},
		{"Sunday as 7", schedule.Spec{Cron: "0 22 * * 7"}, "cron", []string{`wrong day of week, "7"`, "Sunday is 0 or SUN"}},
		{"a range that runs backwards", schedule.Spec{Cron: "0 22 * * FRI-MON"}, "cron", []string{`wrong day of week, "FRI-MON"`}},
		{"a step of zero", schedule.Spec{Cron: "*/0 22 * * *"}, "cron", []string{`wrong minute, "*/0"`}},
		{"a comma alone", schedule.Spec{Cron: "0 22 , * 1"}, "cron", []string{`wrong day of month, ","`}},
		{"a word", schedule.Spec{Cron: "0 22 * * Tuesday"}, "cron", []string{`"Tuesday"`, "SUN-SAT"}},
		{"an interval", schedule.Spec{Cron: "@every 24h"}, "cron", []string{"no time of day", "five fields"}},
		{"an unknown descriptor", schedule.Spec{Cron: "@fortnightly"}, "cron", []string{"is unknown", "@weekly"}},
		{"a zone in the expression", schedule.Spec{Cron: "CRON_TZ=Europe/Zurich 0 22 * * 2"}, "cron", []string{"time zone", "schedule.location"}},
		{"a zone alone", schedule.Spec{Cron: "TZ=Europe/Zurich"}, "cron", []string{"time zone", "schedule.location"}},
		{"a zone after a blank", schedule.Spec{Cron: " TZ=UTC @daily"}, "cron", []string{"schedule.location"}},
		{"week 0", schedule.Spec{Cron: "@daily", ISOWeek: "0"}, "isoWeek", []string{"no ISO week", "1 to 53"}},
		{"week 00", schedule.Spec{Cron: "@daily", ISOWeek: "00"}, "isoWeek", []string{"no ISO week"}},
		{"week 54", schedule.Spec{Cron: "@daily", ISOWeek: "54"}, "isoWeek", []string{"no ISO week"}},
		{"week 99", schedule.Spec{Cron: "@daily", ISOWeek: "99"}, "isoWeek", []string{"no ISO week"}},
		{"two leading zeros", schedule.Spec{Cron: "@daily", ISOWeek: "007"}, "isoWeek", []string{"no ISO week"}},
		{"a signed week", schedule.Spec{Cron: "@daily", ISOWeek: "+7"}, "isoWeek", []string{"no ISO week"}},
		{"a word for weeks without its @", schedule.Spec{Cron: "@daily", ISOWeek: "odd"}, "isoWeek", []string{"@odd"}},
		{"a list of weeks", schedule.Spec{Cron: "@daily", ISOWeek: "1,3"}, "isoWeek", []string{"no ISO week"}},
		{"an unknown zone", schedule.Spec{Cron: "@daily", Location: "Europe/Bern"}, "location", []string{"no known time zone", "Europe/Zurich"}},
		{"a zone by path", schedule.Spec{Cron: "@daily", Location: "../UTC"}, "location", []string{"no known time zone"}},
		{"the first wrong field of three", schedule.Spec{Cron: "0", ISOWeek: "0", Location: "Nowhere"}, "cron", nil},
		{"the first wrong field of two", schedule.Spec{Cron: "@daily", ISOWeek: "0", Location: "Nowhere"}, "isoWeek", nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := NewWithT(t)
			s, err := schedule.Parse(tc.spec)
			g.Expect(s).To(BeNil())
			var wrong *schedule.FieldError
			g.Expect(errors.As(err, &wrong)).To(BeTrue())
			g.Expect(wrong.Field).To(Equal(tc.field))
			g.Expect(wrong.Value).To(Equal(map[string]string{"cron": tc.spec.Cron, "isoWeek": tc.spec.ISOWeek, "location": tc.spec.Location}[tc.field]))
			g.Expect(wrong.Remedy).NotTo(BeEmpty())
			g.Expect(err).To(MatchError(HavePrefix("schedule." + tc.field + " ")))
			for _, part := range tc.says {
				g.Expect(err).To(MatchError(ContainSubstring(part)))
			}
		})
	}
}

func TestScheduleSaysWhatItIs(t *testing.T) {
	for _, tc := range []struct {
		name                 string
		cron, week, location string
		want                 string
	}{
		{"odd weeks in a place", "0 22 * * 2", "@odd", "Europe/Zurich", "0 22 * * 2, odd weeks, Europe/Zurich"},
		{"even weeks", "0 22 * * TUE", "@even", "UTC", "0 22 * * TUE, even weeks, UTC"},
		{"no week and no place", "@daily", "", "", "@daily, UTC"},
		{"one week, with its zero", "0 22 * * 2", "07", "", "0 22 * * 2, week 7, UTC"},
		{"week 53", "0 22 * * 2", "53", "", "0 22 * * 2, week 53, UTC"},
		{"blanks around and between", " 0  22 * *\t2\n", "", "", "0 22 * * 2, UTC"},
		{"the zone of the process", "@daily", "", "Local", "@daily, Local"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			NewWithT(t).Expect(parsed(t, tc.cron, tc.week, tc.location).String()).To(Equal(tc.want))
		})
	}
}

func TestLocation(t *testing.T) {
	g := NewWithT(t)
	g.Expect(parsed(t, "@daily", "", "").Location()).To(Equal(time.UTC))
	g.Expect(parsed(t, "@daily", "", "UTC").Location()).To(Equal(time.UTC))
	g.Expect(parsed(t, "@daily", "", "Local").Location()).To(BeIdenticalTo(time.Local))
	g.Expect(parsed(t, "@daily", "", "Asia/Kathmandu").Location().String()).To(Equal("Asia/Kathmandu"))
}

func TestTheZeroScheduleNeverFires(t *testing.T) {
	g := NewWithT(t)
	var s schedule.Schedule
	g.Expect(s.Never()).To(BeTrue())
	_, ok := s.Next(time.Now())
	g.Expect(ok).To(BeFalse())
	g.Expect(s.NextN(time.Now(), 3)).To(BeEmpty())
	current, _, ok := s.Due(time.Now(), schedule.Windows{})
	g.Expect(ok).To(BeFalse())
	g.Expect(current).To(BeNil())
	g.Expect(s.Location()).To(Equal(time.UTC))
}

func TestParseTakesAnyTextWithoutPanic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.StringMatching(`(TZ=|CRON_TZ=|@every |@)?[-0-9*?/, A-Za-z]{0,20}`))
		spec := schedule.Spec{Cron: text.Draw(t, "cron"), ISOWeek: rapid.StringMatching(`(@odd|@even|[0-9]{0,3})`).Draw(t, "week")}
		s, err := schedule.Parse(spec)
		if err == nil {
			if _, ok := s.Next(time.Unix(0, 0)); !ok || s.Never() {
				t.Fatalf("%s was taken, but never fires", s)
			}
			return
		}
		var wrong *schedule.FieldError
		if !errors.As(err, &wrong) || wrong.Problem == "" || wrong.Remedy == "" {
			t.Fatalf("%v has no field, problem and remedy", err)
		}
	})
}
