package manager

import (
	"os"
	"runtime/debug"
)

// lean is how much may be garbage, in percent of what is in use, before it is collected. The manager is idle most of the time and keeps
// thousands of nodes in memory: it has time for it, and control planes have better uses for their memory.
const lean = 25

// collectEarly keeps garbage low, unless whoever runs the manager has said otherwise.
func collectEarly() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(lean)
	}
}
