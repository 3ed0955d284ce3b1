package schedule_test

import (
	"testing"

	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"refit.dev/refit/internal/schedule"
)

func TestSuspensionCovers(t *testing.T) {
	freeze := schedule.Suspension{Name: "freeze", Start: instant(t, "2026-12-20T00:00:00+01:00"), End: instant(t, "2027-01-03T00:00:00+01:00")}
	backwards := schedule.Suspension{Start: freeze.End, End: freeze.Start}
	for _, tc := range []struct {
		name string
		s    schedule.Suspension
		at   string
		want bool
	}{
		{"before it", freeze, "2026-12-19T23:59:59.999999999+01:00", false},
		{"its start is in it", freeze, "2026-12-20T00:00:00+01:00", true},
		{"its start in another zone", freeze, "2026-12-19T23:00:00Z", true},
		{"within", freeze, "2026-12-25T00:00:00Z", true},
		{"its end is in it", freeze, "2027-01-03T00:00:00+01:00", true},
		{"after it", freeze, "2027-01-03T00:00:00.000000001+01:00", false},
		{"one that ends before it starts covers nothing", backwards, "2026-12-25T00:00:00Z", false},
		{"one of a single instant covers that", schedule.Suspension{Start: freeze.Start, End: freeze.Start}, "2026-12-20T00:00:00+01:00", true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			NewWithT(t).Expect(tc.s.Covers(instant(t, tc.at))).To(Equal(tc.want))
		})
	}
}

func TestSuspended(t *testing.T) {
	week := func(name, start, end string) schedule.Suspension {
		return schedule.Suspension{Name: name, Start: instant(t, start+"T00:00:00Z"), End: instant(t, end+"T00:00:00Z")}
	}
	all := []schedule.Suspension{
		week("short", "2026-12-20", "2026-12-24"),
		week("long b", "2026-12-22", "2027-01-03"),
		week("long a", "2026-12-22", "2027-01-03"),
		week("later", "2027-01-02", "2027-02-01"),
	}
	for _, tc := range []struct{ name, at, want string }{
		{"nothing covers", "2026-12-19T00:00:00Z", ""},
		{"one covers", "2026-12-21T00:00:00Z", "short"},
		{"of several the one that ends last, and of those the first by name", "2026-12-23T00:00:00Z", "long a"},
		{"one that began later, and ends last", "2027-01-03T00:00:00Z", "later"},
		{"after all", "2027-02-01T00:00:01Z", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) {
				found, ok := schedule.Suspended(rapid.Permutation(all).Draw(rt, "order"), instant(t, tc.at))
				if found.Name != tc.want || ok != (tc.want != "") {
					rt.Fatalf("%q covers, not %q", found.Name, tc.want)
				}
			})
		})
	}
	_, ok := schedule.Suspended(nil, instant(t, "2026-12-21T00:00:00Z"))
	NewWithT(t).Expect(ok).To(BeFalse())
}
