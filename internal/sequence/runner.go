package sequence

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"k8s.io/utils/clock"
)

// Log is where a Journal keeps records; an in-memory one serves tests and dry runs.
type Log interface {
	// Append returns once the record is safe.
	Append(Record) error
	// Starts counts how often a step was started.
	Starts(step string) int
}

// Runner runs steps in their order, each recorded before it starts and after it ends.
type Runner struct {
	// Journal keeps the records.
	Journal Log
	// Clock tells the time of the records.
	Clock clock.PassiveClock
	// Prefix goes before the steps' names in the journal, e.g. "kubeadm/".
	Prefix string
	// Say is told about each event, for the log. It may be nil.
	Say func(Record)
}

// doneDeadline bounds one look at the world.
const doneDeadline = time.Minute

// undoDeadline bounds putting the world back.
const undoDeadline = 5 * time.Minute

// Run runs each step that is not done, and returns the last step's message. It stops at the first error.
func (r *Runner) Run(ctx context.Context, steps ...Step) (message string, err error) {
	for _, step := range steps {
		if err := ctx.Err(); err != nil {
			return message, fmt.Errorf("stopped before %s%s: %w", r.Prefix, step.Name(), context.Cause(ctx))
		}
		if message, err = r.one(ctx, step); err != nil {
			return message, err
		}
	}
	return message, nil
}

func (r *Runner) one(ctx context.Context, step Step) (string, error) {
	name := r.Prefix + step.Name()
	done, message, err := r.ask(ctx, step)
	if err != nil {
		return "", r.fail(name, 0, time.Time{}, fmt.Errorf("%s: look whether it is done: %w", name, err))
	}
	if done {
		return message, r.record(Record{Step: name, Event: AlreadyDone, Message: message})
	}
	attempt := r.Journal.Starts(name) + 1
	if err := r.record(Record{Step: name, Event: Started, Attempt: attempt}); err != nil {
		return "", err
	}
	began := r.Clock.Now()
	message, err = r.run(ctx, step)
	if err == nil {
		err = r.confirm(ctx, step)
	}
	if err != nil {
		return message, r.undo(ctx, step, r.fail(name, attempt, began, err))
	}
	return message, r.record(Record{Step: name, Event: Finished, Attempt: attempt, Seconds: r.since(began), Message: message})
}

func (r *Runner) ask(ctx context.Context, step Step) (bool, string, error) {
	ctx, cancel := context.WithTimeout(ctx, doneDeadline)
	defer cancel()
	return step.Done(ctx)
}

func (r *Runner) run(ctx context.Context, step Step) (string, error) {
	deadline := step.Deadline()
	if deadline <= 0 {
		return "", fmt.Errorf("step %s has no deadline", step.Name())
	}
	ctx, cancel := context.WithTimeoutCause(ctx, deadline, fmt.Errorf("%s took longer than its deadline of %s", step.Name(), deadline))
	defer cancel()
	message, err := step.Run(ctx)
	if err != nil && ctx.Err() != nil && !errors.Is(err, context.Cause(ctx)) {
		err = fmt.Errorf("%w (%w)", err, context.Cause(ctx))
	}
	return message, err
}

// confirm sees to it that a step which says that it is done really is: the world has the last word.
func (r *Runner) confirm(ctx context.Context, step Step) error {
	done, message, err := r.ask(ctx, step)
	switch {
	case err != nil:
		return fmt.Errorf("look whether it is done: %w", err)
	case !done:
		return fmt.Errorf("%s ended without an error, but is not done: %s", step.Name(), message)
	}
	return nil
}

func (r *Runner) fail(name string, attempt int, began time.Time, cause error) error {
	record := Record{Step: name, Event: Failed, Attempt: attempt, Message: cause.Error()}
	if !began.IsZero() {
		record.Seconds = r.since(began)
	}
	return errors.Join(cause, r.record(record))
}

func (r *Runner) undo(ctx context.Context, step Step, cause error) error {
	undoer, ok := step.(Undoer)
	if !ok || ctx.Err() != nil {
		// Where not the step but the whole run was told to end, as at a shutdown, the next run goes on from here.
		return cause
	}
	ctx, cancel := context.WithTimeout(ctx, undoDeadline)
	defer cancel()
	name := r.Prefix + step.Name()
	undone, message, err := undoer.Undo(ctx)
	switch {
	case err != nil:
		err = fmt.Errorf("put %s back as it was: %w", name, err)
		return errors.Join(cause, err, r.record(Record{Step: name, Event: UndoFailed, Message: err.Error()}))
	case !undone:
		return cause
	}
	if err := r.record(Record{Step: name, Event: Undone, Message: message}); err != nil {
		return errors.Join(cause, err)
	}
	return &UndoneError{Cause: cause, Message: message}
}

func (r *Runner) since(began time.Time) float64 {
	return r.Clock.Since(began).Round(time.Millisecond).Seconds()
}

// maxMessage bounds what the journal keeps of a message; the log has all of it.
const maxMessage = 2000

func (r *Runner) record(record Record) error {
	if len(record.Message) > maxMessage {
		record.Message = strings.ToValidUTF8(record.Message[:maxMessage], "") + "…"
	}
	record.Time = r.Clock.Now().UTC()
	if r.Say != nil {
		r.Say(record)
	}
	return r.Journal.Append(record)
}
