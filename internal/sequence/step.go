// Package sequence runs steps that must survive a power cut: a journal on disk says what was started, the world itself says
// what is done.
package sequence

import (
	"context"
	"time"
)

// Step is one change to the world that is safe to begin again.
type Step interface {
	// Name is unique within the sequence. It goes into the journal.
	Name() string
	// Deadline bounds one Run.
	Deadline() time.Duration
	// Done looks at the world, never only at a marker, and says whether there is nothing left to do. Its message says what
	// it saw. Done changes nothing.
	Done(ctx context.Context) (done bool, message string, err error)
	// Run makes the change, from wherever an earlier Run was cut off. Its message says what was done.
	Run(ctx context.Context) (message string, err error)
}

// Undoer is a Step that can put the world back as it was before its Run.
type Undoer interface {
	Step
	// Undo is called after a Run that failed. It says whether there was anything to put back, and what it did. It is safe to
	// call again.
	Undo(ctx context.Context) (undone bool, message string, err error)
}

// UndoneError is the failure of a step whose change was put back.
type UndoneError struct {
	// Cause is why the step failed.
	Cause error
	// Message says what was put back.
	Message string
}

// Error tells both.
func (e *UndoneError) Error() string { return e.Cause.Error() + ". " + e.Message }

// Unwrap is the cause.
func (e *UndoneError) Unwrap() error { return e.Cause }

// Func is a Step made of functions, for steps that need no type of their own.
type Func struct {
	// Label is the step's name.
	Label string
	// Within bounds one Run. It must be positive.
	Within time.Duration
	// IsDone is Done.
	IsDone func(ctx context.Context) (bool, string, error)
	// Do is Run.
	Do func(ctx context.Context) (string, error)
}

// Name is the label.
func (f Func) Name() string { return f.Label }

// Deadline bounds one Run.
func (f Func) Deadline() time.Duration { return f.Within }

// Done asks IsDone.
func (f Func) Done(ctx context.Context) (bool, string, error) { return f.IsDone(ctx) }

// Run calls Do.
func (f Func) Run(ctx context.Context) (string, error) { return f.Do(ctx) }
