package print

import (
	"fmt"
	"time"
)

// Duration is a time span as people read it, to the second: 8s, 1m32s, 2h05m. Negative ones, which clocks that differ
// give, show as 0s.
func Duration(d time.Duration) string {
	d = max(d.Round(time.Second), 0)
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
}

// Span is a time span that may be long, to the minute or the hour: 45m, 3h05m, 12d4h. It is as Duration below a minute.
func Span(d time.Duration) string {
	d = max(d, 0)
	switch {
	case d < time.Minute:
		return Duration(d)
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
	}
	return fmt.Sprintf("%dd%dh", int(d.Hours())/24, int(d.Hours())%24)
}
