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
	// large is the number of nodes from which a look at all of them costs more than to ask the API server for the claims that are begun.
	large = 500
	// lastLooks is how long after its end an upgrade is still looked at: the cordons of its nodes are lifted after it, too.
	lastLooks = time.Minute
)

// Observer looks at the whole cluster.
type Observer interface {
	Cluster(ctx context.Context, f observe.Freshness) (*snapshot.Cluster, error)
}

// Reconciler carries KubernetesUpgrades out.
type Reconciler struct {
	Client   client.Client
	Observer Observer
	Recorder events.EventRecorder
	Clock    clock.PassiveClock

	// eager says that the last look at a large cluster had nodes begun.
	eager bool
	// refused are the verification Jobs, by name, that the API server does not take, and why.
	refused sync.Map
}

// turn is one reconcile's observation and decision.
type turn struct {
	seen       *snapshot.Cluster
	upgrade    *v1alpha1.KubernetesUpgrade
	networking networkingRecord
	// unseen is why something of the networking step could not be looked at; nil where all could.
	unseen   error
	decision rollout.Decision
	// right to begin nodes; nil where none is begun.
	right *claim.Turn
}

// leadsToMore says that the next look will have nodes begun, too, and that the cluster is large.
func (t *turn) leadsToMore() bool {
	return t != nil && claim.Begins(t.decision.Actions) && len(t.seen.Nodes) >= large
}

// Reconcile decides on what is at hand, and where that leads to an action once more on what the servers say now. It writes what
// it saw, and acts. Where the last look had nodes begun, so will this one, mostly: then it asks the servers at once, if that costs less than
// another look at all nodes.
func (r *Reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	fresh := observe.Freshness(r.eager)
	t, err := r.decide(ctx, req.Name, fresh)
	if err == nil && t != nil && len(t.decision.Actions) > 0 && fresh == observe.Cached {
		t, err = r.decide(ctx, req.Name, observe.Fresh)
	}
	r.eager = err == nil && t.leadsToMore()
	if err != nil || t == nil { // nothing is concluded from what could not be read
		return ctrl.Result{}, err
	}
	if err := r.write(ctx, t); err != nil {
		return stale(err)
	}
	written, err := r.carryAll(ctx, t)
	cachewait.For(ctx, r.Client, append(written, t.upgrade)...)
	if err != nil {
		return stale(err)
	}
	if ended := t.upgrade.Status.CompletedAt; t.upgrade.Finished() && (ended == nil || r.Clock.Since(ended.Time) >= lastLooks) {
		return ctrl.Result{}, nil
	}
	return ctrl.Result{RequeueAfter: lookAgain}, nil
}

// decide observes and decides; nil where the upgrade is gone.
func (r *Reconciler) decide(ctx context.Context, name string, f observe.Freshness) (*turn, error) {
	seen, err := r.Observer.Cluster(ctx, f)
	if err != nil {
		return nil, err
	}
	t := &turn{seen: seen, upgrade: find(seen, name)}
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
