package claim

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TurnLasts is how long after taking its turn a manager may begin nodes. It is shorter than the time in which another manager can
// become the leader: one that was stopped and wakes up as a leader no more begins nothing.
const TurnLasts = 8 * time.Second

// ErrTurnOver says that too much time has passed since the turn was taken.
var ErrTurnOver = errors.New("the turn to begin nodes is over")

// ErrOldKind says that the kinds in the cluster are older than this manager.
var ErrOldKind = errors.New("the kinds in the cluster are older than this manager: run `refit install`, or upgrade the chart with its kinds")

// TellOldKind has the events of an object say that its turn cannot be taken by this manager, where that is the error.
func TellOldKind(to events.EventRecorder, o client.Object, err error) {
	if errors.Is(err, ErrOldKind) {
		to.Eventf(o, nil, corev1.EventTypeWarning, "OldKinds", "Wait", "no node is begun: %v", ErrOldKind)
	}
}

// Turn is the right to begin the nodes of one decision.
type Turn struct {
	clock clock.PassiveClock
	taken time.Time
}

// TakeTurn writes the status of the object that orders nodes, as it was read before the observation that the decision rests on, and counts
// on in it. The API server refuses that where somebody else took a turn since, so that of two managers with the same observation only one
// begins anything.
func TakeTurn(ctx context.Context, c client.Client, clk clock.PassiveClock, o client.Object, count *int64) (*Turn, error) {
	taken, before := clk.Now(), o.GetResourceVersion()
	*count++
	if err := c.Status().Update(ctx, o); err != nil {
		return nil, fmt.Errorf("take the turn of %s: %w", o.GetName(), err)
	}
	if o.GetResourceVersion() == before { // the count was dropped, and so nobody is kept from taking the same turn
		return nil, fmt.Errorf("take the turn of %s: %w", o.GetName(), ErrOldKind)
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
