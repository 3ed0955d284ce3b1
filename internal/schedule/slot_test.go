package schedule_test

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"refit.dev/refit/internal/schedule"
)

func TestSlot(t *testing.T) {
	g := NewWithT(t)
	at := instant(t, "2026-11-03T22:00:00Z")
	slot := schedule.Windows{PinVersionWindow: 4 * time.Hour, MaxSchedulingDelay: time.Hour, MaxUpgradeStartDelay: 30 * time.Minute}.Slot(at)
	g.Expect(slot).To(Equal(schedule.Slot{
		At:           at,
		PinAt:        instant(t, "2026-11-03T18:00:00Z"),
		CreateBefore: instant(t, "2026-11-03T19:00:00Z"),
		StartBefore:  instant(t, "2026-11-03T22:30:00Z"),
	}))
}

func TestDue(t *testing.T) {
	weekly := schedule.Windows{PinVersionWindow: 4 * time.Hour, MaxSchedulingDelay: time.Hour, MaxUpgradeStartDelay: time.Hour}
	for _, tc := range []struct {
		name, cron, now string
		windows         schedule.Windows
		current, next   string
	}{
		{"before the window nothing is due", "0 22 * * 2", "2026-11-03T17:59:59Z", weekly, "", "2026-11-03T22:00:00Z"},
		{"a nanosecond before the window", "0 22 * * 2", "2026-11-03T17:59:59.999999999Z", weekly, "", "2026-11-03T22:00:00Z"},
		{"the window's start is in it", "0 22 * * 2", "2026-11-03T18:00:00Z", weekly, "2026-11-03T22:00:00Z", "2026-11-10T22:00:00Z"},
		{"within the window", "0 22 * * 2", "2026-11-03T18:30:00Z", weekly, "2026-11-03T22:00:00Z", "2026-11-10T22:00:00Z"},
		{"the window's end is in it", "0 22 * * 2", "2026-11-03T19:00:00Z", weekly, "2026-11-03T22:00:00Z", "2026-11-10T22:00:00Z"},
		{"a nanosecond after the window", "0 22 * * 2", "2026-11-03T19:00:00.000000001Z", weekly, "", "2026-11-10T22:00:00Z"},
		{"a window that is missed is skipped, though its firing is still to come", "0 22 * * 2", "2026-11-03T20:00:00Z", weekly, "", "2026-11-10T22:00:00Z"},
		{"without any window, at the firing", "0 22 * * 2", "2026-11-03T22:00:00Z", schedule.Windows{}, "2026-11-03T22:00:00Z", "2026-11-10T22:00:00Z"},
		{"without any window, after the firing", "0 22 * * 2", "2026-11-03T22:00:01Z", schedule.Windows{}, "", "2026-11-10T22:00:00Z"},
		{"a window that reaches beyond the firing", "0 22 * * 2", "2026-11-04T12:00:00Z", schedule.Windows{MaxSchedulingDelay: 24 * time.Hour}, "2026-11-03T22:00:00Z", "2026-11-10T22:00:00Z"},
		{"of windows that overlap the latest counts", "0 * * * *", "2026-11-03T12:10:00Z", schedule.Windows{PinVersionWindow: 30 * time.Minute, MaxSchedulingDelay: 3 * time.Hour}, "2026-11-03T12:00:00Z", "2026-11-03T13:00:00Z"},
		{"a window open since 31 December of a leap year", "0 0 31 12 *", "2025-02-01T00:00:00Z", schedule.Windows{MaxSchedulingDelay: 60 * 24 * time.Hour}, "2024-12-31T00:00:00Z", "2025-12-31T00:00:00Z"},
		{"a pin window longer than the rhythm", "0 22 * * *", "2026-11-03T22:30:00Z", schedule.Windows{PinVersionWindow: 72 * time.Hour, MaxSchedulingDelay: time.Hour}, "2026-11-06T22:00:00Z", "2026-11-07T22:00:00Z"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := NewWithT(t)
			now := instant(t, tc.now)
			current, next, ok := parsed(t, tc.cron, "", "").Due(now, tc.windows)
			g.Expect(ok).To(BeTrue())
			g.Expect(next).To(Equal(tc.windows.Slot(instant(t, tc.next))))
			g.Expect(next.PinAt).To(BeTemporally(">", now))
			if tc.current == "" {
				g.Expect(current).To(BeNil())
			} else {
				g.Expect(current).To(HaveValue(Equal(tc.windows.Slot(instant(t, tc.current)))))
			}
		})
	}
}

func TestDueOnTheDayClocksGoForward(t *testing.T) {
	g := NewWithT(t)
	s := parsed(t, "30 2 * * *", "", "Europe/Zurich")
	windows := schedule.Windows{PinVersionWindow: 2 * time.Hour, MaxSchedulingDelay: time.Hour}
	// The windows are spans of real time: they count from 03:00, when 02:30 would have been.
	current, next, ok := s.Due(instant(t, "2027-03-27T23:59:59+01:00"), windows)
	g.Expect(ok).To(BeTrue())
	g.Expect(current).To(BeNil())
	g.Expect(next.At.Format(time.RFC3339)).To(Equal("2027-03-28T03:00:00+02:00"))
	g.Expect(next.PinAt.Format(time.RFC3339)).To(Equal("2027-03-28T00:00:00+01:00"))

	current, next, ok = s.Due(next.PinAt, windows)
	g.Expect(ok).To(BeTrue())
	g.Expect(current.At.Format(time.RFC3339)).To(Equal("2027-03-28T03:00:00+02:00"))
	g.Expect(next.At.Format(time.RFC3339)).To(Equal("2027-03-29T02:30:00+02:00"))
}
