// Package kubernetesupgrade brings a whole cluster to a Kubernetes version. What is next, package rollout decides; this package
// observes, writes the status, and carries the actions out.
package kubernetesupgrade

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/controller/cachewait"
	"refit.dev/refit/internal/controller/claim"
	"refit.dev/refit/internal/observe"
	"refit.dev/refit/internal/rollout"
	"refit.dev/refit/internal/snapshot"
)

const (
	// lookAgain is when an unfinished upgrade is looked at again though nothing woke the controller: gates see things that
	// wake nobody.
	lookAgain = 5 * time.Second
	// staleAfter is when to look again after somebody else wrote first.
	staleAfter = 200 * time.Millisecond
	// large is the number of nodes from which a look at all of them costs more than to ask etcd, and eager how long after nodes were begun in so
	// large a cluster more are expected to be.
	large = 500
	eager = 10 * time.Second
	// unheard is how long after a write of which it is not known what came of it nothing is concluded from what this manager wrote.
	unheard = time.Minute
	// lastLooks is how long after its end an upgrade is still looked at: the cordons of its nodes are lifted after it, too.
	lastLooks = time.Minute
)

// Observer looks at the whole cluster.
type Observer interface {
	Cluster(ctx context.Context, f observe.Freshness) (*snapshot.Cluster, error)
	// Wrote tells of objects that were written since.
	Wrote(objects ...client.Object)
}

// Reconciler carries KubernetesUpgrades out.
type Reconciler struct {
	Client   client.Client
	Observer Observer
	Recorder events.EventRecorder
	Clock    clock.PassiveClock

	// began is when nodes of a large cluster were begun last.
	began time.Time
	// mine is the upgrade as this manager left it, where all that is begun since anybody else wrote it is known.
	mine mark
	// doubted is when it was last not known what came of a write.
	doubted time.Time
	// refused are the verification Jobs, by name, that the API server does not take, and why.
	refused sync.Map
}

// turn is one reconcile's observation and decision.
type turn struct {
	// fresh is what the observation was asked to be.
	fresh      observe.Freshness
	seen       *snapshot.Cluster
	upgrade    *v1alpha1.KubernetesUpgrade
	networking networkingRecord
	// unseen is why something of the networking step could not be looked at; nil where all could.
	unseen   error
	decision rollout.Decision
	// right to begin nodes; nil where none is begun.
	right *claim.Turn
}

// leadsToMore says that the next looks will have nodes begun, too, and that the cluster is large.
func (t *turn) leadsToMore() bool {
	return claim.Begins(t.decision.Actions) && len(t.seen.Nodes) >= large
}

// Reconcile decides on what is at hand, and where that leads to an action once more on what an action may rest on. It writes what it saw, and acts.
func (r *Reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	t, err := r.conclude(ctx, req.Name)
	if err != nil || t == nil { // nothing is concluded from what could not be read
		return ctrl.Result{}, err
	}
	if t.leadsToMore() {
		r.began = r.Clock.Now()
	}
	if err := r.do(ctx, t); err != nil {
		return stale(err)
	}
	if ended := t.upgrade.Status.CompletedAt; t.upgrade.Finished() && (ended == nil || r.Clock.Since(ended.Time) >= lastLooks) {
		return ctrl.Result{}, nil
	}
	return ctrl.Result{RequeueAfter: lookAgain}, nil
}

// do writes the status and carries the actions out. It keeps count of what this manager knows to be begun.
func (r *Reconciler) do(ctx context.Context, t *turn) error {
	known, before := t.fresh == observe.Fresh || r.mine.is(t.upgrade), r.mine
	r.mine = mark{} // until it is known what came of each write
	if err := r.write(ctx, t); err != nil {
		r.doubt(err)
		return err
	}
	written, err := r.carryAll(ctx, t)
	r.Observer.Wrote(written...)
	r.doubt(err)
	switch {
	case err != nil || r.Clock.Since(r.doubted) < unheard:
	case known:
		r.mine = markOf(t.upgrade)
	case len(t.decision.Actions) == 0 && before.uid != t.upgrade.UID: // of another upgrade, for which nothing changes by this one
		r.mine = before
	}
	cachewait.For(ctx, r.Client, t.upgrade) // the observer knows of the claims
	return err
}

// doubt remembers an error that does not say that nothing was done.
func (r *Reconciler) doubt(err error) {
	if err != nil && !outdated(err) {
		r.doubted = r.Clock.Now()
	}
}

// conclude decides on an observation that is as fresh as what comes of it has to rest on. Where nodes were begun just now, more will be,
// mostly: then etcd is asked at once, if that costs less than another look at all nodes.
func (r *Reconciler) conclude(ctx context.Context, name string) (*turn, error) {
	f := observe.Cached
	if r.Clock.Since(r.began) < eager {
		f = observe.Known
	}
	for {
		t, err := r.decide(ctx, name, f)
		if err != nil || t == nil || len(t.decision.Actions) == 0 {
			return t, err
		}
		enough := observe.Fresh
		if r.mine.is(t.upgrade) {
			enough = observe.Known
		}
		if f >= enough {
			return t, nil
		}
		f = enough
	}
}

// decide observes and decides; nil where the upgrade is gone.
func (r *Reconciler) decide(ctx context.Context, name string, f observe.Freshness) (*turn, error) {
	seen, err := r.Observer.Cluster(ctx, f)
	if err != nil {
		return nil, err
	}
	t := &turn{fresh: f, seen: seen, upgrade: find(seen, name)}
	if t.upgrade == nil || t.upgrade.DeletionTimestamp != nil {
		return nil, nil
	}
	if t.networking, err = recordOf(t.upgrade); err != nil {
		return nil, err
	}
	t.decision = rollout.Decide(rollout.Input{Cluster: seen, Upgrade: t.upgrade, Networking: r.networkingProgress(ctx, t), Verifications: r.verifications(ctx, t)})
	return t, nil
}

// write stores the status where it changed, takes the turn where nodes are to be begun or aborted, and tells what came of it.
func (r *Reconciler) write(ctx context.Context, t *turn) (err error) {
	turns := claim.Begins(t.decision.Actions) || slices.ContainsFunc(t.decision.Actions, func(a rollout.Action) bool { return a.Kind == rollout.Abort })
	if !turns && equality.Semantic.DeepEqual(t.upgrade.Status, t.decision.Status) {
		return nil
	}
	before := t.upgrade.Status
	t.upgrade.Status = t.decision.Status
	if turns {
		t.right, err = claim.TakeTurn(ctx, r.Client, r.Clock, t.upgrade, &t.upgrade.Status.Turn)
	} else {
		err = r.Client.Status().Update(ctx, t.upgrade)
	}
	if err != nil {
		claim.TellOldKind(r.Recorder, t.upgrade, err)
		return fmt.Errorf("write the status of KubernetesUpgrade %s: %w", t.upgrade.Name, err)
	}
	r.announce(t, before)
	return nil
}

func find(seen *snapshot.Cluster, name string) *v1alpha1.KubernetesUpgrade {
	for i := range seen.Upgrades {
		if seen.Upgrades[i].Name == name {
			return &seen.Upgrades[i]
		}
	}
	return nil
}

// stale turns a lost race into another look.
func stale(err error) (ctrl.Result, error) {
	if outdated(err) {
		return ctrl.Result{RequeueAfter: staleAfter}, nil
	}
	return ctrl.Result{}, client.IgnoreNotFound(err)
}

func outdated(err error) bool { return apierrors.IsConflict(err) || errors.Is(err, claim.ErrTurnOver) }
