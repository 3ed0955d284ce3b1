package spec

import (
	"errors"
	"fmt"
	"strings"

	"refit.dev/refit/internal/sequence"
)

// ExitCode is how the process of a step ends. Any other code, such as 137, means that it was interrupted.
type ExitCode int

// The exit codes of a step.
const (
	// ExitDone: the step is done.
	ExitDone ExitCode = 0
	// ExitFailed: the step failed, and may be tried again.
	ExitFailed ExitCode = 1
	// ExitRefused: the step found something that a person must see to first.
	ExitRefused ExitCode = 10
	// ExitDrainTimedOut: pods were left when the drain's time was over.
	ExitDrainTimedOut ExitCode = 11
	// ExitRolledBack: the new program did not come up, and the old one runs again. Trying again would end the same way.
	ExitRolledBack ExitCode = 12
	// ExitAgain, on the host only: the step failed and has left the host in a state in which no Pod may be able to come back to
	// it, so that systemd begins it again, a few times.
	ExitAgain ExitCode = 75
	// ExitInterrupted: the process was told to end before the step had, or the API server was away for too long. It is not Known, as little as 137.
	ExitInterrupted ExitCode = 255
)

// Known says whether a step ended by itself with this code; otherwise it was interrupted.
func (c ExitCode) Known() bool {
	switch c {
	case ExitDone, ExitFailed, ExitRefused, ExitDrainTimedOut, ExitRolledBack:
		return true
	}
	return false
}

// MaxMessage is the longest message, in bytes, that a step hands back.
const MaxMessage = 1000

// Error is an error that ends a step with a certain code.
type Error struct {
	Code ExitCode
	Err  error
}

func (e *Error) Error() string { return e.Err.Error() }

// Unwrap is the error itself.
func (e *Error) Unwrap() error { return e.Err }

// Refusef is an error that a person must see to.
func Refusef(format string, args ...any) error {
	return &Error{Code: ExitRefused, Err: fmt.Errorf(format, args...)}
}

// Interruptedf is the error of a step that was kept from its end by something that is not the node's failure.
func Interruptedf(format string, args ...any) error {
	return &Error{Code: ExitInterrupted, Err: fmt.Errorf(format, args...)}
}

// DrainTimedOutf is the error of a drain that left pods.
func DrainTimedOutf(format string, args ...any) error {
	return &Error{Code: ExitDrainTimedOut, Err: fmt.Errorf(format, args...)}
}

// CodeOf is the exit code that an error stands for: ExitDone for nil, ExitFailed for one that names none.
func CodeOf(err error) ExitCode {
	if err == nil {
		return ExitDone
	}
	var undone *sequence.UndoneError
	if errors.As(err, &undone) {
		return ExitRolledBack
	}
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ExitFailed
}

// Shorten makes a text fit into a step's message: its beginning and its end stay, on one line.
func Shorten(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if len(text) <= MaxMessage {
		return text
	}
	const gap = " … "
	head := MaxMessage * 2 / 3
	tail := MaxMessage - head - len(gap)
	return strings.ToValidUTF8(text[:head], "") + gap + strings.ToValidUTF8(text[len(text)-tail:], "")
}
