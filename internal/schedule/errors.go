package schedule

import "fmt"

// The fields of a schedule, as manifests write them.
const (
	fieldCron     = "cron"
	fieldISOWeek  = "isoWeek"
	fieldLocation = "location"
)

// FieldError says which field of a schedule is wrong, and what to write instead.
type FieldError struct {
	// Field is "cron", "isoWeek" or "location".
	Field string
	// Value is what the field holds.
	Value string
	// Problem goes on from the value: "has 4 fields".
	Problem string
	// Remedy is what to do, as an order.
	Remedy string
}

func (e *FieldError) Error() string {
	return fmt.Sprintf("schedule.%s %q %s: %s", e.Field, e.Value, e.Problem, e.Remedy)
}
