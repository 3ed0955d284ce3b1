package schedule_test

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"refit.dev/refit/internal/schedule"
)

// firing is a schedule, an instant, and what comes after it.
type firing struct {
	name                        string
	cron, week, location, after string
	want                        []string
}

func check(t *testing.T, cases []firing) {
	t.Helper()
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			s := parsed(t, tc.cron, tc.week, tc.location)
			NewWithT(t).Expect(written(s.NextN(instant(t, tc.after), len(tc.want)))).To(Equal(tc.want))
		})
	}
}

func TestNext(t *testing.T) {
	check(t, []firing{
		{"strictly after a firing", "0 22 * * 2", "", "", "2026-11-03T22:00:00Z", []string{"2026-11-10T22:00:00Z"}},
		{"a nanosecond before a firing", "0 22 * * 2", "", "", "2026-11-03T21:59:59.999999999Z", []string{"2026-11-03T22:00:00Z"}},
		{"a nanosecond after a firing", "*/5 * * * *", "", "", "2026-11-03T22:00:00.000000001Z", []string{"2026-11-03T22:05:00Z"}},
		{"before 1970, and within a second", "0 0 * * *", "", "", "1969-12-30T23:59:59.5Z", []string{"1969-12-31T00:00:00Z", "1970-01-01T00:00:00Z"}},
		{"on the local clock, whatever the zone asked in", "0 22 * * 2", "", "Europe/Zurich", "2026-11-01T00:00:00-08:00", []string{"2026-11-03T22:00:00+01:00"}},
		{"a zone of quarter hours", "0 0 * * *", "", "Asia/Kathmandu", "2026-11-01T00:00:00Z", []string{"2026-11-02T00:00:00+05:45"}},
		{"a clock that was behind by half a minute", "0 0 * * *", "", "Africa/Monrovia", "1971-06-01T00:44:29Z", []string{"1971-06-01T00:00:00-00:44", "1971-06-02T00:00:00-00:44"}},
		{"both days restricted: either is enough", "0 0 13 * 5", "", "", "2026-11-01T00:00:00Z", []string{"2026-11-06T00:00:00Z", "2026-11-13T00:00:00Z", "2026-11-20T00:00:00Z", "2026-11-27T00:00:00Z", "2026-12-04T00:00:00Z", "2026-12-11T00:00:00Z", "2026-12-13T00:00:00Z"}},
		{"a star in one day field: both count", "0 0 * * 5", "", "", "2026-11-01T00:00:00Z", []string{"2026-11-06T00:00:00Z", "2026-11-13T00:00:00Z"}},
		{"a question mark is a star", "0 0 13 * ?", "", "", "2026-11-01T00:00:00Z", []string{"2026-11-13T00:00:00Z", "2026-12-13T00:00:00Z"}},
		{"a star with a step is a restriction", "0 0 */15 * 5", "", "", "2026-11-01T00:00:00Z", []string{"2026-11-06T00:00:00Z", "2026-11-13T00:00:00Z", "2026-11-16T00:00:00Z"}},
		{"a number with a step goes on to the end", "40/15 12 * * *", "", "", "2026-11-01T00:00:00Z", []string{"2026-11-01T12:40:00Z", "2026-11-01T12:55:00Z", "2026-11-02T12:40:00Z"}},
		{"names", "0 0 * feb sun", "", "", "2026-11-01T00:00:00Z", []string{"2027-02-07T00:00:00Z"}},
		{"Sunday is 0", "0 0 * * 0", "", "", "2026-11-02T00:00:00Z", []string{"2026-11-08T00:00:00Z"}},
		{"@hourly", "@hourly", "", "", "2026-11-01T00:30:00Z", []string{"2026-11-01T01:00:00Z", "2026-11-01T02:00:00Z"}},
		{"@daily", "@daily", "", "", "2026-11-01T00:30:00Z", []string{"2026-11-02T00:00:00Z"}},
		{"@midnight", "@midnight", "", "", "2026-11-01T00:30:00Z", []string{"2026-11-02T00:00:00Z"}},
		{"@weekly is Sunday", "@weekly", "", "", "2026-11-02T00:00:00Z", []string{"2026-11-08T00:00:00Z"}},
		{"@monthly", "@monthly", "", "", "2026-11-02T00:00:00Z", []string{"2026-12-01T00:00:00Z"}},
		{"@yearly", "@yearly", "", "", "2026-11-02T00:00:00Z", []string{"2027-01-01T00:00:00Z"}},
		{"@annually", "@annually", "", "", "2026-11-02T00:00:00Z", []string{"2027-01-01T00:00:00Z"}},
		{"29 February over the turn of a century", "0 0 29 2 *", "", "", "2096-01-01T00:00:00Z", []string{"2096-02-29T00:00:00Z", "2104-02-29T00:00:00Z"}},
		{"31 December in week 52", "0 0 31 12 *", "52", "", "2000-01-01T00:00:00Z", []string{"2000-12-31T00:00:00Z", "2005-12-31T00:00:00Z", "2006-12-31T00:00:00Z", "2010-12-31T00:00:00Z"}},
		{"the end of a leap year in the far future", "0 */12 * * *", "", "America/New_York", "2060-12-30T18:00:00Z", []string{"2060-12-31T00:00:00-05:00", "2060-12-31T12:00:00-05:00", "2061-01-01T00:00:00-05:00"}},
		{"the end of a leap year in a southern summer", "0 */12 * * *", "", "Australia/Lord_Howe", "2060-12-30T18:00:00Z", []string{"2060-12-31T12:00:00+11:00", "2061-01-01T00:00:00+11:00"}},
	})
}

func TestNextInWeeks(t *testing.T) {
	check(t, []firing{
		{"week 53 and week 1 are both odd", "0 22 * * 5", "@odd", "Europe/Zurich", "2026-12-19T00:00:00Z", []string{"2027-01-01T22:00:00+01:00", "2027-01-08T22:00:00+01:00", "2027-01-22T22:00:00+01:00"}},
		{"even weeks pause for three around week 53", "0 22 * * 5", "@even", "Europe/Zurich", "2026-12-19T00:00:00Z", []string{"2026-12-25T22:00:00+01:00", "2027-01-15T22:00:00+01:00"}},
		{"week 53 comes every five or six years", "0 0 * * 4", "53", "", "2016-01-01T00:00:00Z", []string{"2020-12-31T00:00:00Z", "2026-12-31T00:00:00Z", "2032-12-30T00:00:00Z"}},
		{"1 January in week 53", "0 0 1 1 *", "53", "", "2006-01-01T00:00:00Z", []string{"2010-01-01T00:00:00Z", "2016-01-01T00:00:00Z", "2021-01-01T00:00:00Z", "2027-01-01T00:00:00Z", "2033-01-01T00:00:00Z"}},
		{"1 January in week 52", "0 0 1 1 *", "52", "", "2006-01-02T00:00:00Z", []string{"2011-01-01T00:00:00Z", "2012-01-01T00:00:00Z", "2017-01-01T00:00:00Z"}},
		{"31 December in week 1", "0 0 31 12 *", "1", "", "2024-01-01T00:00:00Z", []string{"2024-12-31T00:00:00Z", "2025-12-31T00:00:00Z", "2029-12-31T00:00:00Z"}},
		{"a week with a leading zero", "0 0 * * 1", "07", "", "2026-11-01T00:00:00Z", []string{"2027-02-15T00:00:00Z", "2028-02-14T00:00:00Z"}},
		{"a local Monday of an odd week that is a Sunday of an even one in UTC", "30 0 * * 1", "@odd", "Asia/Kathmandu", "2026-10-31T00:00:00Z", []string{"2026-11-02T00:30:00+05:45", "2026-11-16T00:30:00+05:45"}},
		{"a week begins on the local Monday, ahead of UTC", "0 1 * * *", "45", "Asia/Kathmandu", "2026-10-31T00:00:00Z", []string{"2026-11-02T01:00:00+05:45"}},
		{"a week ends on the local Sunday, behind UTC", "0 23 * * 0", "45", "America/New_York", "2026-11-01T12:00:00Z", []string{"2026-11-08T23:00:00-05:00"}},
	})
}

func TestWeekIsTheLocalOne(t *testing.T) {
	for _, tc := range []struct {
		name, location, at string
		year, week         int
	}{
		{"1 January 2027 is in week 53 of 2026", "", "2027-01-01T12:00:00Z", 2026, 53},
		{"4 January 2027 is in week 1", "", "2027-01-04T00:00:00Z", 2027, 1},
		{"before the local Monday", "America/New_York", "2027-01-04T04:59:59Z", 2026, 53},
		{"from the local Monday on", "Asia/Kathmandu", "2027-01-03T18:15:00Z", 2027, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := NewWithT(t)
			year, week := parsed(t, "@daily", "", tc.location).Week(instant(t, tc.at))
			g.Expect(year).To(Equal(tc.year))
			g.Expect(week).To(Equal(tc.week))
		})
	}
}

func TestNextWhereClocksGoForward(t *testing.T) {
	check(t, []firing{
		{"a time in the gap fires right after it", "30 2 * * *", "", "Europe/Zurich", "2027-03-27T00:00:00Z", []string{"2027-03-27T02:30:00+01:00", "2027-03-28T03:00:00+02:00", "2027-03-29T02:30:00+02:00"}},
		{"asked right before the gap's end", "30 2 * * *", "", "Europe/Zurich", "2027-03-28T00:59:59.999999999Z", []string{"2027-03-28T03:00:00+02:00"}},
		{"asked at the gap's end", "30 2 * * *", "", "Europe/Zurich", "2027-03-28T01:00:00Z", []string{"2027-03-29T02:30:00+02:00"}},
		{"several in one gap fire once", "*/20 2 * * *", "", "Europe/Zurich", "2027-03-28T00:00:00Z", []string{"2027-03-28T03:00:00+02:00", "2027-03-29T02:00:00+02:00"}},
		{"one in the gap and one at its end fire once", "0,30 2,3 * * *", "", "Europe/Zurich", "2027-03-28T00:00:00Z", []string{"2027-03-28T03:00:00+02:00", "2027-03-28T03:30:00+02:00", "2027-03-29T02:00:00+02:00"}},
		{"only on that day, and only in its week", "30 2 28 3 *", "12", "Europe/Zurich", "2027-03-01T00:00:00Z", []string{"2027-03-28T03:00:00+02:00"}},
		{"a gap of half an hour", "15 2 * * *", "", "Australia/Lord_Howe", "2026-10-03T00:00:00Z", []string{"2026-10-04T02:30:00+11:00", "2026-10-05T02:15:00+11:00"}},
		{"after a gap of half an hour", "45 2 * * *", "", "Australia/Lord_Howe", "2026-10-03T00:00:00Z", []string{"2026-10-04T02:45:00+11:00"}},
		{"a day without a midnight", "0 0 * * *", "", "America/Sao_Paulo", "2017-10-14T12:00:00Z", []string{"2017-10-15T01:00:00-02:00", "2017-10-16T00:00:00-02:00"}},
		{"half past a midnight that is none", "30 0 * * 0", "", "America/Sao_Paulo", "2017-10-14T12:00:00Z", []string{"2017-10-15T01:00:00-02:00", "2017-10-22T00:30:00-02:00"}},
		{"the evening before a day without a midnight", "59 23 * * 6", "", "America/Sao_Paulo", "2017-10-14T12:00:00Z", []string{"2017-10-14T23:59:00-03:00", "2017-10-21T23:59:00-02:00"}},
		{"after Ramadan", "30 2 * * *", "", "Africa/Casablanca", "2024-04-13T12:00:00Z", []string{"2024-04-14T03:00:00+01:00", "2024-04-15T02:30:00+01:00"}},
		{"a day that is left out", "0 12 * * *", "", "Pacific/Apia", "2011-12-29T20:00:00Z", []string{"2011-12-29T12:00:00-10:00", "2011-12-31T00:00:00+14:00", "2011-12-31T12:00:00+14:00"}},
		{"a date that is left out", "0 12 30 12 *", "", "Pacific/Apia", "2011-01-01T00:00:00Z", []string{"2011-12-31T00:00:00+14:00", "2012-12-30T12:00:00+14:00"}},
		{"all hours of a day that is left out, and the midnight after it", "0 * 30,31 12 *", "", "Pacific/Apia", "2011-12-01T00:00:00Z", []string{"2011-12-31T00:00:00+14:00", "2011-12-31T01:00:00+14:00"}},
		{"a Friday that is left out, in its week", "0 12 * * 5", "52", "Pacific/Apia", "2011-12-01T00:00:00Z", []string{"2011-12-31T00:00:00+14:00", "2012-12-28T12:00:00+14:00"}},
	})
}

func TestNextWhereClocksGoBack(t *testing.T) {
	check(t, []firing{
		{"a time that comes twice fires the first time", "30 2 * * *", "", "Europe/Zurich", "2026-10-24T12:00:00Z", []string{"2026-10-25T02:30:00+02:00", "2026-10-26T02:30:00+01:00"}},
		{"asked between the two", "30 2 * * *", "", "Europe/Zurich", "2026-10-25T01:10:00Z", []string{"2026-10-26T02:30:00+01:00"}},
		{"asked in the first of the two hours", "*/20 2 * * *", "", "Europe/Zurich", "2026-10-25T00:20:00Z", []string{"2026-10-25T02:40:00+02:00", "2026-10-26T02:00:00+01:00"}},
		{"the hour that is repeated is left out", "0 * * * *", "", "Europe/Zurich", "2026-10-24T23:30:00Z", []string{"2026-10-25T02:00:00+02:00", "2026-10-25T03:00:00+01:00"}},
		{"asked in the second of the two hours", "0 * * * *", "", "Europe/Zurich", "2026-10-25T01:10:00Z", []string{"2026-10-25T03:00:00+01:00"}},
		{"a day that comes twice", "0 21 * * *", "", "Pacific/Kwajalein", "1969-09-30T00:00:00Z", []string{"1969-09-30T21:00:00+11:00", "1969-10-01T21:00:00-12:00"}},
		{"asked late in the second of the two days", "0 21 * * *", "", "Pacific/Kwajalein", "1969-09-30T20:00:00-12:00", []string{"1969-10-01T21:00:00-12:00"}},
		{"half an hour that comes twice", "45 1 * * *", "", "Australia/Lord_Howe", "2027-04-03T00:00:00Z", []string{"2027-04-04T01:45:00+11:00", "2027-04-05T01:45:00+10:30"}},
		{"an evening that comes twice", "30 23 * * *", "", "America/Sao_Paulo", "2018-02-17T12:00:00Z", []string{"2018-02-17T23:30:00-02:00", "2018-02-18T23:30:00-03:00"}},
		{"a midnight reached once, after the evening that came twice", "0 0 * * *", "", "America/Sao_Paulo", "2018-02-17T12:00:00Z", []string{"2018-02-18T00:00:00-03:00"}},
		{"before Ramadan", "30 2 * * *", "", "Africa/Casablanca", "2024-03-09T12:00:00Z", []string{"2024-03-10T02:30:00+01:00", "2024-03-11T02:30:00Z"}},
	})
}

func TestLocalIsTheZoneOfTheProcess(t *testing.T) {
	g := NewWithT(t)
	zurich, err := time.LoadLocation("Europe/Zurich")
	g.Expect(err).NotTo(HaveOccurred())
	before := time.Local
	time.Local = zurich
	t.Cleanup(func() { time.Local = before })
	next, ok := parsed(t, "30 2 * * *", "", "Local").Next(instant(t, "2027-03-28T00:00:00Z"))
	g.Expect(ok).To(BeTrue())
	g.Expect(next.Format(time.RFC3339)).To(Equal("2027-03-28T03:00:00+02:00"))
}

func TestNextNOfNone(t *testing.T) {
	g := NewWithT(t)
	s := parsed(t, "@daily", "", "")
	g.Expect(s.NextN(time.Unix(0, 0), 0)).To(BeEmpty())
	g.Expect(s.NextN(time.Unix(0, 0), -1)).To(BeEmpty())
}

func BenchmarkNext(b *testing.B) {
	for _, spec := range []schedule.Spec{
		{Cron: "0 22 * * 2", ISOWeek: "@odd", Location: "Europe/Zurich"},
		{Cron: "0 0 29 2 1"},
		{Cron: "0 0 29 2 *", Location: "Europe/Zurich"},
		{Cron: "0 0 3 1 *", ISOWeek: "53"},
	} {
		s := parsed(b, spec.Cron, spec.ISOWeek, spec.Location)
		b.Run(s.String(), func(b *testing.B) {
			at := time.Unix(0, 0)
			for b.Loop() {
				next, ok := s.Next(at)
				if !ok {
					b.Fatal("no firing")
				}
				if at = next; at.Year() > 2400 {
					at = time.Unix(0, 0)
				}
			}
		})
	}
}

func BenchmarkParse(b *testing.B) {
	for b.Loop() {
		parsed(b, "0 22 * * 2", "@odd", "Europe/Zurich")
	}
}
