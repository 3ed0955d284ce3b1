package wake

import (
	"context"
	"time"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// Moment is how long changes like this one are gathered. What is new has no before, what is gone no after.
type Moment func(before, after client.Object) time.Duration

// Each gathers every change for as long.
func Each(moment time.Duration) Moment {
	return func(client.Object, client.Object) time.Duration { return moment }
}

// Gather wakes those that of maps an object to, a moment later: changes come in bursts, and one look at what a whole wave of nodes
// did costs as much as one look at one of them. The shortest of the moments that run counts.
func Gather(moment Moment, of handler.MapFunc) handler.EventHandler {
	type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]
	add := func(ctx context.Context, o client.Object, q queue, wait time.Duration) {
		for _, request := range of(ctx, o) {
			q.AddAfter(request, wait)
		}
	}
	return handler.Funcs{
		CreateFunc: func(ctx context.Context, e event.CreateEvent, q queue) { add(ctx, e.Object, q, moment(nil, e.Object)) },
		UpdateFunc: func(ctx context.Context, e event.UpdateEvent, q queue) {
			add(ctx, e.ObjectNew, q, moment(e.ObjectOld, e.ObjectNew))
		},
		DeleteFunc:  func(ctx context.Context, e event.DeleteEvent, q queue) { add(ctx, e.Object, q, moment(e.Object, nil)) },
		GenericFunc: func(ctx context.Context, e event.GenericEvent, q queue) { add(ctx, e.Object, q, moment(nil, e.Object)) },
	}
}
