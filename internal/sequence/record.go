package sequence

import "time"

// Event is what a record of the journal tells.
type Event string

// The events of a step.
const (
	// Started: the step is about to change the world.
	Started Event = "started"
	// Finished: the step's change is made, and was seen in the world.
	Finished Event = "finished"
	// AlreadyDone: there was nothing left to do.
	AlreadyDone Event = "already-done"
	// Failed: the step ended with an error.
	Failed Event = "failed"
	// Undone: after a failure the world was put back.
	Undone Event = "undone"
	// UndoFailed: after a failure the world could not be put back.
	UndoFailed Event = "undo-failed"
)

// Record is one line of the journal.
type Record struct {
	// Time of the event.
	Time time.Time `json:"time"`
	// Step that the event is about; a step inside another is "outer/inner".
	Step string `json:"step"`
	// Event says what happened.
	Event Event `json:"event"`
	// Attempt counts the starts of the step, from 1.
	Attempt int `json:"attempt,omitempty"`
	// Seconds that a run took.
	Seconds float64 `json:"seconds,omitempty"`
	// Message says what was done, or what failed.
	Message string `json:"message,omitempty"`
}
