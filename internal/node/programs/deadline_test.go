package programs_test

import (
	"time"

	"refit.dev/refit/internal/node/programs"
)

// shortDeadline is a Containerd that gives up soon.
type shortDeadline struct{ programs.Containerd }

func (shortDeadline) Deadline() time.Duration { return 300 * time.Millisecond }
