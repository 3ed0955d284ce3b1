package cli

import (
	"errors"
	"fmt"
)

// The exit codes of refit. They are part of its interface; `refit help exit-codes` prints them.
const (
	ExitOK = iota
	// ExitError: something went wrong; the message says what to do.
	ExitError
	// ExitUsage: the command line is wrong, and nothing was done.
	ExitUsage
	// ExitBlocked: gates, or an upgrade that has not ended, hold the upgrade up, and it was not started; or `refit plan` or
	// `refit health` found what would.
	ExitBlocked
	// ExitFailed: the upgrade that was watched failed and needs a person.
	ExitFailed
	// ExitAborted: the upgrade that was watched was aborted.
	ExitAborted
	// ExitUnwatched: watching ended (interrupted, or --timeout) while the upgrade goes on.
	ExitUnwatched
)

const exitCodes = `0  done
1  an error; the message says what to do
2  the command line is wrong; nothing was done
3  a gate, or an upgrade that has not ended, is in the way; nothing was started
4  the upgrade failed and needs a person
5  the upgrade was aborted
6  watching ended (interrupted, or --timeout) while the upgrade goes on
`

// stepExitCodes are those of refit-node, package internal/node/spec, as 'refit logs' and systemd show them.
const stepExitCodes = `  0  done
  1  failed; tried again by itself, three times in all
 10  refused: a person must see to something first
 11  the drain's time was over, and Pods were left
 12  rolled back: the new program did not come up, and the old one runs again
 75  on the host alone: failed, and systemd begins it again, as no Pod may come up before it is done
255  told to end before it was done, or held for long because the API server was away; started again. So is any other code, such as 137
`

// exitError is an error that ends the program with a code of its own.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string { return e.err.Error() }
func (e *exitError) Unwrap() error { return e.err }

func exitWith(code int, format string, args ...any) error {
	return &exitError{code: code, err: fmt.Errorf(format, args...)}
}

func usageError(err error) error {
	if err == nil {
		return nil
	}
	return &exitError{code: ExitUsage, err: err}
}

// exitCode is the code that an error ends the program with.
func exitCode(err error) int {
	if err == nil {
		return ExitOK
	}
	var own *exitError
	if errors.As(err, &own) {
		return own.code
	}
	return ExitError
}
