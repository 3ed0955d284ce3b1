package claim

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// annotationTurn counts, on the object that orders nodes, how often nodes were begun for it.
const annotationTurn = "refit.dev/turn"

// TurnLasts is how long after taking its turn a manager may begin nodes. It is shorter than the time in which another manager can
// become the leader: one that was stopped and wakes up as a leader no more begins nothing.
const TurnLasts = 8 * time.Second

// ErrTurnOver says that too much time has passed since the turn was taken.
var ErrTurnOver = errors.New("the turn to begin nodes is over")

// Turn is the right to begin the nodes of one decision.
type Turn struct {
	clock clock.PassiveClock
	taken time.Time
}

// TakeTurn writes to the object as it was read before the observation that the decision rests on. The API server refuses that where
// somebody else took a turn since, so that of two managers with the same observation only one begins anything.
func TakeTurn(ctx context.Context, c client.Client, clk clock.PassiveClock, o client.Object) (*Turn, error) {
	taken := clk.Now()
	annotations := o.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	n, err := strconv.ParseInt(annotations[annotationTurn], 10, 64)
	if err != nil {
		n = 0
	}
	annotations[annotationTurn] = strconv.FormatInt(n+1, 10)
	o.SetAnnotations(annotations)
	if err := c.Update(ctx, o); err != nil {
		return nil, fmt.Errorf("take the turn of %s: %w", o.GetName(), err)
	}
	return &Turn{clock: clk, taken: taken}, nil
}

// check is asked right before every write that begins a node.
func (t *Turn) check() error {
	if t == nil || t.clock.Since(t.taken) > TurnLasts {
		return ErrTurnOver
	}
	return nil
}
