package schedule

import "time"

// Windows are the spans of time around a firing. None may be negative.
type Windows struct {
	// PinVersionWindow is how long before the firing the version is pinned, and the job created.
	PinVersionWindow time.Duration
	// MaxSchedulingDelay is how late the job may still be created, after it should have been. At 0 it may be created only at the very
	// instant; manifests have 1h by default.
	MaxSchedulingDelay time.Duration
	// MaxUpgradeStartDelay is how late the job may still start, after the firing.
	MaxUpgradeStartDelay time.Duration
}

// Slot is a firing, and what goes with it.
type Slot struct {
	// At is the firing: the job may start from then on.
	At time.Time
	// PinAt is when the version is pinned and the job created.
	PinAt time.Time
	// CreateBefore is the last instant, inclusive, at which the job may be created.
	CreateBefore time.Time
	// StartBefore is the last instant at which the job may start.
	StartBefore time.Time
}

// Slot is the slot of a firing.
func (w Windows) Slot(at time.Time) Slot {
	pin := at.Add(-w.PinVersionWindow)
	return Slot{At: at, PinAt: pin, CreateBefore: pin.Add(w.MaxSchedulingDelay), StartBefore: at.Add(w.MaxUpgradeStartDelay)}
}

// Due is the slot whose job may be created now, nil for none, and the first slot whose time to be created is still to come. Where the
// times of several slots overlap, the current one is the latest. A slot whose time has passed is skipped, not caught up: it is neither.
// False where the schedule never fires, which is so for the zero Schedule alone.
func (s *Schedule) Due(now time.Time, w Windows) (current *Slot, next Slot, ok bool) {
	pinned := now.Add(w.PinVersionWindow)
	at, ok := s.Next(pinned)
	if !ok {
		return nil, Slot{}, false
	}
	if last, found := s.latest(pinned); found {
		if slot := w.Slot(last); !now.After(slot.CreateBefore) {
			current = &slot
		}
	}
	return current, w.Slot(at), true
}
