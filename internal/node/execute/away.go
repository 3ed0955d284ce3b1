package execute

import (
	"context"
	"errors"
	"net/http"
	"time"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/node/controlplane"
	"refit.dev/refit/internal/node/kubeapi"
	"refit.dev/refit/internal/node/spec"
	"refit.dev/refit/internal/node/task"
)

const (
	// awayEvery is how often an API server that is away is asked, and answerWithin how long it may take to answer.
	awayEvery    = 2 * time.Second
	answerWithin = 5 * time.Second
	// mostHeld is how often a step is held; after that it is left to the next Pod.
	mostHeld = 5
)

// Answers asks the API server that a step asks for a sign of life. The error says why there is none.
type Answers func(context.Context) error

// held runs a step, and where it fails while the API server is away, waits for that and runs it again: an API server that is away is not
// the node's failure (fault 6), unless it is this node's own, which the step has stopped. One that stays away for longer than spec.Patience,
// all waits together, interrupts the step.
func held(ctx context.Context, t *task.Task, name v1alpha1.StepName, answers Answers, run func(context.Context) (string, error)) (string, error) {
	left := spec.Patience
	var err error
	for range mostHeld {
		var message string
		message, err = run(ctx)
		if err == nil || ctx.Err() != nil || spec.CodeOf(err) != spec.ExitFailed {
			return message, err
		}
		silent := ask(ctx, answers)
		if silent == nil || stopped(ctx, t, name) {
			return message, err
		}
		began := t.Clock.Now()
		t.Log.Say("the API server does not answer, which is not this node's failure: the step is begun again once it does, within %s: %v", left.Round(time.Second), silent)
		waited := t.Wait(ctx, "an answer", awayEvery, left, func(ctx context.Context) string { return text(ask(ctx, answers)) })
		if waited != nil {
			return "", spec.Interruptedf("the API server was away: %w; the step had failed with: %w", waited, err)
		}
		left -= t.Clock.Since(began)
	}
	return "", spec.Interruptedf("the API server was away %d times while the step ran, the last time it failed with: %w", mostHeld, err)
}

// stopped says whether the step may be what keeps this control plane from serving.
func stopped(ctx context.Context, t *task.Task, name v1alpha1.StepName) bool {
	return t.Spec.ControlPlane() && ChangesHost(name) && controlplane.Up(ctx, t) != ""
}

func ask(ctx context.Context, answers Answers) error {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	return answers(ctx)
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// fromHost asks with the credentials that the node has. Where these cannot be read nobody is asked: the step itself says so if it needs them.
func fromHost(t *task.Task) Answers {
	return func(ctx context.Context) error {
		api, unreadable := t.API()
		if unreadable != nil {
			return nil
		}
		_, err := api.Get(ctx, "/readyz")
		var said *kubeapi.StatusError
		if errors.As(err, &said) && said.Code < http.StatusInternalServerError && said.Code != http.StatusTooManyRequests {
			return nil // it answers, though not to everybody
		}
		return err
	}
}
