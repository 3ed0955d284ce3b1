package controlplane

import (
	"fmt"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

func TestSlowest(t *testing.T) {
	// text is metrics of a process in which so many requests took at most 0.1 s, at most 8 s, and longer than 60 s.
	text := func(process, quick, slow, endless int) string {
		var b strings.Builder
		fmt.Fprintf(&b, "process_start_time_seconds %d\n", process)
		for _, verb := range []string{"GET", "LIST"} {
			for le, n := range map[string]int{"0.1": quick, "8": quick + slow, "60": quick + slow, "+Inf": quick + slow + endless} {
				fmt.Fprintf(&b, "apiserver_request_duration_seconds_bucket{verb=%q,resource=\"pods\",le=%q} %d\n", verb, le, n)
			}
		}
		fmt.Fprintln(&b, `apiserver_request_duration_seconds_bucket{verb="WATCH",le="60"} 0`)
		fmt.Fprintln(&b, `apiserver_request_duration_seconds_bucket{verb="WATCH",le="+Inf"} 99`)
		return b.String()
	}
	for _, c := range []struct {
		name       string
		now, noted string
		want       time.Duration
		known      bool
	}{
		{"the bucket of the slowest request bounds it", text(1, 10, 1, 0), text(1, 0, 0, 0), 8 * time.Second, true},
		{"what was slow before it was noted does not count", text(1, 10, 1, 0), text(1, 5, 1, 0), 100 * time.Millisecond, true},
		{"another process counts from nothing", text(2, 10, 1, 0), text(1, 5, 1, 0), 8 * time.Second, true},
		{"a request beyond the highest bucket is not known", text(1, 10, 1, 1), text(1, 0, 0, 0), 0, false},
		{"no request at all is quick", text(1, 5, 0, 0), text(1, 5, 0, 0), 100 * time.Millisecond, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := NewWithT(t)
			now, err := readLatencies(strings.NewReader(c.now))
			g.Expect(err).NotTo(HaveOccurred())
			noted, err := readLatencies(strings.NewReader(c.noted))
			g.Expect(err).NotTo(HaveOccurred())
			bound, known := now.slowest(noted)
			g.Expect(known).To(Equal(c.known))
			if known {
				g.Expect(bound).To(Equal(c.want))
			}
		})
	}

	t.Run("metrics that do not tell are an error", func(t *testing.T) {
		_, err := readLatencies(strings.NewReader("go_goroutines 7\n"))
		NewWithT(t).Expect(err).To(MatchError(ContainSubstring("do not tell")))
	})
}
