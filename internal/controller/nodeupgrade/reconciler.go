package nodeupgrade

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/controller/cachewait"
	"refit.dev/refit/internal/observe"
)

// staleAfter is when to look again after somebody else wrote the object first.
const staleAfter = 200 * time.Millisecond

// Reconciler brings nodes to versions.
type Reconciler struct {
	// Client writes, and reads from a cache.
	Client client.Client
	// Live reads from the API server.
	Live     client.Reader
	Recorder events.EventRecorder
	Clock    clock.PassiveClock
	Limits   Limits
	// Observer is told of what is written of claims that are not completed: a node that failed, or whose work goes on after it did, lets others not be
	// begun. It is told of claims that are gone, too. It may be nil.
	Observer interface {
		Wrote(objects ...client.Object)
		Gone(*v1alpha1.NodeUpgrade)
	}

	untold untold
	// taker is the name of a node that took pods when it was last looked for, as a string; looking is held by whoever looks for another.
	taker   atomic.Value
	looking sync.Mutex
}

// Reconcile observes once, decides once, writes the status, and carries out one action.
func (r *Reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	return r.reconcile(ctx, req.NamespacedName, observe.Cached)
}

// reconcile is Reconcile with the NodeUpgrade as the cache has it, or the API server.
func (r *Reconciler) reconcile(ctx context.Context, name types.NamespacedName, f observe.Freshness) (ctrl.Result, error) {
	reader := client.Reader(r.Client)
	if f == observe.Fresh {
		reader = r.Live
	}
	var nu v1alpha1.NodeUpgrade
	if err := reader.Get(ctx, name, &nu); err != nil {
		r.untold.forget(name)
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	before := nu.Status.DeepCopy()
	r.untold.restore(&nu)
	o, err := r.observe(ctx, &nu)
	if err != nil { // nothing is concluded from what could not be read
		return ctrl.Result{}, fmt.Errorf("observe NodeUpgrade %s: %w", nu.Name, err)
	}
	d := Decide(o, r.Limits)
	if before.Completed && f == observe.Cached && !equality.Semantic.DeepEqual(*before, d.Status) {
		return r.reconcile(ctx, name, observe.Fresh) // the cache has less of it than is to be written back: CompactClaim
	}
	if r.untold.keep(&nu, before, d, o.Now) {
		return ctrl.Result{RequeueAfter: sooner(wait.Jitter(tellAgain, 1), d.RequeueAfter)}, nil
	}
	nu.Status = *before
	switch err := r.writeStatus(ctx, &nu, d); {
	case apierrors.IsConflict(err):
		return ctrl.Result{RequeueAfter: staleAfter}, nil
	case err != nil:
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	r.announce(&nu, before)
	if d.Action == nil {
		return ctrl.Result{RequeueAfter: d.RequeueAfter}, nil
	}
	log.FromContext(ctx).Info("acting", "action", fmt.Sprintf("%T", d.Action), "phase", d.Status.Phase, "node", nu.Spec.Machine.Name)
	if err := r.act(ctx, &o, d.Action); err != nil {
		if apierrors.IsConflict(err) {
			return ctrl.Result{RequeueAfter: staleAfter}, nil
		}
		return ctrl.Result{}, err
	}
	return ctrl.Result{RequeueAfter: d.RequeueAfter}, nil
}

// writeStatus writes what was decided. Before a Pod is created the object is written though nothing in it changed: the API
// server refuses the write where the decision rests on an older version of the object, and so no stale cache starts a Pod.
func (r *Reconciler) writeStatus(ctx context.Context, nu *v1alpha1.NodeUpgrade, d Decision) error {
	_, creates := d.Action.(CreatePod)
	if !creates && equality.Semantic.DeepEqual(nu.Status, d.Status) {
		return nil
	}
	nu.Status = d.Status
	if err := r.Client.Status().Update(ctx, nu); err != nil {
		return fmt.Errorf("write the status of NodeUpgrade %s: %w", nu.Name, err)
	}
	if r.Observer != nil && !nu.Status.Completed {
		r.Observer.Wrote(nu.DeepCopy())
	}
	cachewait.For(ctx, r.Client, nu)
	r.untold.forget(client.ObjectKeyFromObject(nu))
	return nil
}

// sooner is the shorter of two times, where 0 is never.
func sooner(a, b time.Duration) time.Duration {
	if b > 0 && b < a {
		return b
	}
	return a
}
