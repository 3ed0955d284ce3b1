package suspensionwindow

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"refit.dev/refit/api/managedupgrade/v1beta1"
)

// fresh is how old a window may be that is seen for the first time, and still count as one that has just been made. An older one was
// there before the manager, and what it did then is not told.
const fresh = time.Minute

// phase is where a window stands.
type phase int

const (
	before phase = iota
	during
	after
)

// phaseOf is where a window stands at a time, and how long until that changes; 0 where it will not. Both ends belong to the window.
func phaseOf(w *v1beta1.UpgradeSuspensionWindow, now time.Time) (phase, time.Duration) {
	switch {
	case now.After(w.Spec.End.Time):
		return after, 0
	case now.Before(w.Spec.Start.Time):
		return before, w.Spec.Start.Sub(now)
	}
	return during, w.Spec.End.Sub(now) + time.Millisecond
}

// memory is what was seen of a window at the last look. It is lost with the manager.
type memory struct {
	uid        types.UID
	generation int64
	phase      phase
	// told are the problems that were told.
	told string
}

// passed says what happened since the last look. It is nothing where there was none, unless the window is fresh.
func passed(last *memory, w *v1beta1.UpgradeSuspensionWindow, now time.Time) (began, ended bool) {
	is, _ := phaseOf(w, now)
	was, same := before, false
	switch {
	case last != nil && last.uid == w.UID:
		was, same = last.phase, last.generation == w.Generation
	case now.Sub(w.CreationTimestamp.Time) >= fresh:
		return false, false
	}
	// One that went by between two looks began as well as ended, unless it was moved into the past.
	wentBy := same && was == before && is == after
	return was != during && is == during || wentBy, was == during && is != during || wentBy
}
