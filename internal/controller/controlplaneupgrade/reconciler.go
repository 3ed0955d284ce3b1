// Package controlplaneupgrade brings control planes to a version, one at a time. Which one is next, and whether it may be
// begun, package rollout decides.
package controlplaneupgrade

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/controller/cachewait"
	"refit.dev/refit/internal/controller/claim"
	"refit.dev/refit/internal/gate"
	"refit.dev/refit/internal/observe"
	"refit.dev/refit/internal/rollout"
	"refit.dev/refit/internal/snapshot"
)

const (
	// lookAgain is when a control plane that waits is looked at again: what it waits for, such as an etcd member's health,
	// wakes nobody.
	lookAgain = 2 * time.Second
	// restFor is when it is looked at again after its KubernetesUpgrade has ended without it. Whoever resumes that wakes it.
	restFor = time.Minute
	// staleAfter is when to look again after somebody else wrote first.
	staleAfter = 200 * time.Millisecond
)

// Observer looks at the whole cluster.
type Observer interface {
	Cluster(ctx context.Context, f observe.Freshness) (*snapshot.Cluster, error)
	// Wrote tells of objects that were written since.
	Wrote(objects ...client.Object)
}

// Reconciler carries ControlPlaneUpgrades out.
type Reconciler struct {
	Client client.Client
	// Live reads from the API server.
	Live     client.Reader
	Observer Observer
	Recorder events.EventRecorder
	Clock    clock.PassiveClock
}

// Reconcile decides on what is at hand, and where that leads to an action once more on what the servers say now. It writes what
// it saw, and acts.
func (r *Reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	seen, u, d, err := r.decide(ctx, req.NamespacedName, observe.Cached)
	if err == nil && u != nil && len(d.Actions) > 0 {
		seen, u, d, err = r.decide(ctx, req.NamespacedName, observe.Fresh)
	}
	if err != nil || u == nil { // nothing is concluded from what could not be read
		return ctrl.Result{}, err
	}
	if claim.Begins(d.Actions) {
		if current, err := r.current(ctx, seen, u); err != nil || !current {
			return ctrl.Result{RequeueAfter: staleAfter}, err
		}
	}
	turn, err := r.write(ctx, u, d)
	if err != nil {
		return stale(err)
	}
	owner := claim.Owner{Turn: turn, Upgrade: u.Labels[v1alpha1.LabelUpgrade], Drain: u.Spec.Drain,
		Reference: *metav1.NewControllerRef(u, v1alpha1.GroupVersion.WithKind("ControlPlaneUpgrade"))}
	if owner.Upgrade == "" {
		owner.Upgrade = u.Name
	}
	for _, a := range d.Actions {
		log.FromContext(ctx).Info("acting", "action", a.Kind, "node", a.Node, "version", a.Version, "first", a.First, "why", a.Why)
		written, err := claim.Carry(ctx, r.Client, seen, owner, a)
		if err != nil {
			return stale(err)
		}
		r.Observer.Wrote(written)
		cachewait.For(ctx, r.Client, u, written)
	}
	if d.Status.Ready {
		return ctrl.Result{}, nil
	}
	if over(seen, owner.Upgrade) {
		return ctrl.Result{RequeueAfter: restFor}, nil
	}
	return ctrl.Result{RequeueAfter: lookAgain}, nil
}

func (r *Reconciler) decide(ctx context.Context, key client.ObjectKey, f observe.Freshness) (
	seen *snapshot.Cluster, u *v1alpha1.ControlPlaneUpgrade, d rollout.ControlPlaneDecision, err error) {
	if seen, err = r.Observer.Cluster(ctx, f); err != nil {
		return nil, nil, d, err
	}
	if u = find(seen, key); u == nil || u.DeletionTimestamp != nil {
		return seen, nil, d, nil
	}
	return seen, u, rollout.DecideControlPlane(rollout.ControlPlaneInput{Cluster: seen, Upgrade: u}), nil
}

// write stores the status where it changed, takes the turn where a node is to be begun, and tells what became of the gates.
func (r *Reconciler) write(ctx context.Context, u *v1alpha1.ControlPlaneUpgrade, d rollout.ControlPlaneDecision) (turn *claim.Turn, err error) {
	begins := claim.Begins(d.Actions)
	if !begins && equality.Semantic.DeepEqual(u.Status, d.Status) {
		return nil, nil
	}
	before := u.Status
	u.Status = d.Status
	if begins {
		turn, err = claim.TakeTurn(ctx, r.Client, r.Clock, u, &u.Status.Turn)
	} else {
		err = r.Client.Status().Update(ctx, u)
	}
	if err != nil {
		claim.TellOldKind(r.Recorder, u, err)
		return nil, err
	}
	switch {
	case d.Status.Ready && !before.Ready:
		r.Recorder.Eventf(u, nil, corev1.EventTypeNormal, rollout.ReasonComplete, "Upgrade", "every control plane runs %s", u.Spec.KubernetesVersion)
	case d.Status.Current != "" && d.Status.Current != before.Current:
		r.Recorder.Eventf(u, nil, corev1.EventTypeNormal, rollout.ReasonUpgrading, "Upgrade", "%s is being brought to %s", d.Status.Current, u.Spec.KubernetesVersion)
	case len(gate.Closed(d.Gates)) > 0 && d.Status.Waiting != before.Waiting:
		r.Recorder.Eventf(u, nil, corev1.EventTypeWarning, rollout.ReasonGatesClosed, "Wait", "%s", d.Status.Waiting)
	}
	return turn, nil
}

// current says whether the KubernetesUpgrade is as it was observed: the turn is taken on another object, and a pause or an abort that the
// cache has not seen yet must not be passed over.
func (r *Reconciler) current(ctx context.Context, seen *snapshot.Cluster, u *v1alpha1.ControlPlaneUpgrade) (bool, error) {
	name := u.Labels[v1alpha1.LabelUpgrade]
	if name == "" {
		return true, nil
	}
	var live v1alpha1.KubernetesUpgrade
	err := r.Live.Get(ctx, client.ObjectKey{Name: name}, &live)
	if client.IgnoreNotFound(err) != nil {
		return false, fmt.Errorf("get KubernetesUpgrade %s: %w", name, err)
	}
	for i := range seen.Upgrades {
		if seen.Upgrades[i].Name == name {
			return err == nil && seen.Upgrades[i].ResourceVersion == live.ResourceVersion, nil
		}
	}
	return err != nil, nil
}

// over says that the KubernetesUpgrade of that name has ended.
func over(seen *snapshot.Cluster, name string) bool {
	return slices.ContainsFunc(seen.Upgrades, func(u v1alpha1.KubernetesUpgrade) bool { return u.Name == name && u.Finished() })
}

func find(seen *snapshot.Cluster, key client.ObjectKey) *v1alpha1.ControlPlaneUpgrade {
	for i := range seen.ControlPlaneUpgrades {
		if u := &seen.ControlPlaneUpgrades[i]; client.ObjectKeyFromObject(u) == key {
			return u
		}
	}
	return nil
}

// stale turns a lost race into another look.
func stale(err error) (ctrl.Result, error) {
	if apierrors.IsConflict(err) || errors.Is(err, claim.ErrTurnOver) {
		return ctrl.Result{RequeueAfter: staleAfter}, nil
	}
	return ctrl.Result{}, client.IgnoreNotFound(err)
}
