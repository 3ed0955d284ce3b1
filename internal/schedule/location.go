package schedule

import (
	"time"
	_ "time/tzdata" // The zones, for where there is no zoneinfo folder, as in an image from scratch.
)

// parseLocation reads the field location. The errors are FieldErrors.
func parseLocation(value string) (*time.Location, error) {
	location, err := time.LoadLocation(value)
	if err != nil {
		return nil, &FieldError{Field: fieldLocation, Value: value, Problem: "is no known time zone",
			Remedy: "write an IANA name such as Europe/Zurich or America/New_York, or UTC"}
	}
	return location, nil
}
