package windows

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"refit.dev/refit/internal/schedule"
)

func TestStartsThatAClockChangeConcernsAreRemarked(t *testing.T) {
	for _, c := range []struct{ cron, zone, from, start, note string }{
		{"30 2 * * *", "Europe/Zurich", "2027-03-28T00:00:00Z", "2027-03-28T01:00:00Z", "02:30 does not exist on this day: the window starts when the clocks have gone forward"},
		{"0 3 * * *", "Europe/Zurich", "2027-03-28T00:00:00Z", "2027-03-28T01:00:00Z", ""}, // its own time
		{"30 1 * * *", "Europe/Zurich", "2027-03-28T00:00:00Z", "2027-03-28T00:30:00Z", ""},
		{"30 2 * * *", "Europe/Zurich", "2026-10-25T00:00:00Z", "2026-10-25T00:30:00Z", "02:30 comes twice on this day: the window starts at the first"},
		{"0 3 * * *", "Europe/Zurich", "2026-10-25T00:00:00Z", "2026-10-25T02:00:00Z", ""},
		{"59 1 * * *", "Europe/Zurich", "2026-10-24T23:00:00Z", "2026-10-24T23:59:00Z", ""},
		{"15 2 * * *", "Australia/Lord_Howe", "2026-10-03T14:00:00Z", "2026-10-03T15:30:00Z", "02:15 does not exist on this day: the window starts when the clocks have gone forward"},
		{"45 1 * * *", "Australia/Lord_Howe", "2027-04-03T14:00:00Z", "2027-04-03T14:45:00Z", "01:45 comes twice on this day: the window starts at the first"},
		{"15 1 * * *", "Australia/Lord_Howe", "2027-04-03T14:00:00Z", "2027-04-03T14:15:00Z", ""},
		{"30 2 * * *", "UTC", "2027-03-28T00:00:00Z", "2027-03-28T02:30:00Z", ""},
	} {
		g := NewWithT(t)
		spec := schedule.Spec{Cron: c.cron, Location: c.zone}
		plan, err := schedule.Parse(spec)
		g.Expect(err).NotTo(HaveOccurred())
		start, _ := plan.Next(at(c.from).Add(-time.Second))
		g.Expect(start.UTC().Format(time.RFC3339)).To(Equal(c.start), "%v", c)
		g.Expect(clockChange(spec, plan, start)).To(Equal(c.note), "%v", c)
	}
}
