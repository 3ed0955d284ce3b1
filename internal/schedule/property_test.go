package schedule_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"refit.dev/refit/internal/schedule"
)

// span is all firings of a schedule from an instant until before another, in seconds of Unix time.
func span(s *schedule.Schedule, from, until time.Time) []int64 {
	var all []int64
	at := from.Add(-time.Nanosecond)
	for {
		next, ok := s.Next(at)
		if !ok || !next.Before(until) {
			return all
		}
		all = append(all, next.Unix())
		at = next
	}
}

// different says where two lists of instants part; empty where they do not.
func different(got, want []int64) string {
	for i := range max(len(got), len(want)) {
		switch {
		case i >= len(got):
			return "missing " + time.Unix(want[i], 0).UTC().String()
		case i >= len(want) || got[i] < want[i]:
			return "too many: " + time.Unix(got[i], 0).UTC().String()
		case got[i] > want[i]:
			return "missing " + time.Unix(want[i], 0).UTC().String()
		}
	}
	return ""
}

func TestTwentyYearsAreTheModels(t *testing.T) {
	specs := []schedule.Spec{
		{Cron: "5 * * * *"},
		{Cron: "30 2 * * *"},
		{Cron: "0 0 * * *"},
		{Cron: "*/20 1-3 * * 0"},
		{Cron: "*/20 1-3 * * 0", ISOWeek: "@odd"},
		{Cron: "45 1,23 * * *", ISOWeek: "@even"},
		{Cron: "15,30 0,2 1-7 3,4,10-12 5"},
		{Cron: "0 12 * * 5,6", ISOWeek: "52"},
	}
	from, until := time.Date(2007, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2027, 1, 10, 0, 0, 0, 0, time.UTC)
	for _, place := range []string{"Europe/Zurich", "Australia/Lord_Howe", "America/Sao_Paulo", "Africa/Casablanca", "Pacific/Apia"} {
		t.Run(place, func(t *testing.T) {
			var rules []*rule
			for _, spec := range specs {
				rules = append(rules, ruleOf(t, spec.Cron, spec.ISOWeek))
			}
			location, err := time.LoadLocation(place)
			NewWithT(t).Expect(err).NotTo(HaveOccurred())
			for i, want := range walk(location, from, until, rules...) {
				s := parsed(t, specs[i].Cron, specs[i].ISOWeek, place)
				if len(want) < 20 {
					t.Errorf("%s: the model fires %d times", s, len(want))
				}
				if d := different(span(s, from, until), want); d != "" {
					t.Errorf("%s: %s", s, d)
				}
			}
		})
	}
}

// field draws one of the five fields of an expression; likely are values to prefer.
func field(lowest, highest int, likely ...int) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		value := rapid.IntRange(lowest, highest)
		if len(likely) > 0 {
			value = rapid.OneOf(rapid.SampledFrom(likely), value)
		}
		step := func() string { return "/" + strconv.Itoa(rapid.IntRange(1, highest/2+2).Draw(t, "step")) }
		low, high := value.Draw(t, "low"), value.Draw(t, "high")
		low, high = min(low, high), max(low, high)
		switch rapid.IntRange(0, 6).Draw(t, "form") {
		case 0, 1:
			return "*"
		case 2:
			return "*" + step()
		case 3:
			return strconv.Itoa(low)
		case 4:
			return fmt.Sprintf("%d-%d", low, high)
		case 5:
			return fmt.Sprintf("%d-%d%s,%d", low, high, step(), value.Draw(t, "more"))
		default:
			return strconv.Itoa(low) + step()
		}
	})
}

// world is a schedule and a span of some months, with what the model fires in it.
type world struct {
	spec        schedule.Spec
	from, until time.Time
	want        []int64
}

func drawWorld(t *rapid.T, tb testing.TB) world {
	spec := schedule.Spec{
		Cron: strings.Join([]string{
			field(0, 59, 0, 15, 30, 45).Draw(t, "minute"), field(0, 23, 0, 1, 2, 3, 23).Draw(t, "hour"),
			field(1, 31).Draw(t, "day of month"), field(1, 12, 3, 4, 10).Draw(t, "month"), field(0, 6, 0, 6).Draw(t, "day of week"),
		}, " "),
		ISOWeek:  rapid.OneOf(rapid.SampledFrom([]string{"", "", "@odd", "@even"}), rapid.Map(rapid.IntRange(1, 53), strconv.Itoa)).Draw(t, "week"),
		Location: rapid.SampledFrom([]string{"Europe/Zurich", "Australia/Lord_Howe", "America/Sao_Paulo", "Africa/Casablanca", "UTC", "Pacific/Apia", "America/New_York", "Asia/Kathmandu"}).Draw(t, "location"),
	}
	from := time.Date(rapid.OneOf(rapid.IntRange(1975, 2065), rapid.SampledFrom([]int{2010, 2011, 2024, 2026})).Draw(t, "year"),
		time.Month(rapid.IntRange(1, 12).Draw(t, "first month")), rapid.IntRange(1, 28).Draw(t, "first day"), 0, 0, 0, 0, time.UTC)
	until := from.AddDate(0, 0, rapid.IntRange(60, 300).Draw(t, "days"))
	location, err := time.LoadLocation(spec.Location)
	if err != nil {
		t.Fatal(err)
	}
	return world{spec: spec, from: from, until: until, want: walk(location, from, until, ruleOf(tb, spec.Cron, spec.ISOWeek))[0]}
}

func TestAnyScheduleFiresAsTheModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := drawWorld(rt, t)
		s, err := schedule.Parse(w.spec)
		if err != nil {
			if len(w.want) > 0 {
				rt.Fatalf("%v, though it fires %d times", err, len(w.want))
			}
			return
		}
		if d := different(span(s, w.from, w.until), w.want); d != "" {
			rt.Fatalf("%s: %s", s, d)
		}
	})
}

func TestDueIsAsTheModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := drawWorld(rt, t)
		s, err := schedule.Parse(w.spec)
		if err != nil {
			return
		}
		days := func(most int, name string) time.Duration {
			return time.Duration(rapid.IntRange(0, most*24*3600).Draw(rt, name)) * time.Second
		}
		windows := schedule.Windows{PinVersionWindow: days(10, "pin"), MaxSchedulingDelay: days(10, "delay"), MaxUpgradeStartDelay: days(1, "start")}
		for range 50 {
			// Ten days after the span's start the model knows every slot whose window may be open, and eleven before its end what is next.
			now := w.from.Add(10*24*time.Hour + days(int(w.until.Sub(w.from).Hours()/24)-21, "now"))
			pinned := now.Add(windows.PinVersionWindow).Unix()
			current, next, ok := s.Due(now, windows)
			if !ok {
				rt.Fatalf("%s has no next slot", s)
			}
			last, found := lastUntil(w.want, pinned)
			if open := found && last >= pinned-int64(windows.MaxSchedulingDelay/time.Second); open != (current != nil) {
				rt.Fatalf("%s at %s: a slot is open is %v in the model, but the current one is %v", s, now, open, current)
			}
			if current != nil && current.At.Unix() != last {
				rt.Fatalf("%s at %s: current is %s, not %s", s, now, current.At, time.Unix(last, 0))
			}
			if before, _ := lastUntil(w.want, next.At.Unix()-1); !next.At.After(now.Add(windows.PinVersionWindow)) || before > pinned {
				rt.Fatalf("%s at %s: next is %s", s, now, next.At)
			}
			if at, _ := lastUntil(w.want, next.At.Unix()); next.At.Before(w.until) && at != next.At.Unix() {
				rt.Fatalf("%s at %s: next is %s, which is no firing", s, now, next.At)
			}
		}
	})
}
