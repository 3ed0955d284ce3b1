// Package upgradejob carries UpgradeJobs out. What is next, package maintenance decides; this package observes, writes the status, and
// does what was decided.
package upgradejob

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"refit.dev/refit/api/managedupgrade/v1beta1"
	"refit.dev/refit/internal/maintenance"
	"refit.dev/refit/internal/prometheus"
	"refit.dev/refit/internal/target"
)

const (
	// staleAfter is when to look again after somebody else wrote first.
	staleAfter = 200 * time.Millisecond
	// failedAfter is when to try an action again that failed.
	failedAfter = 5 * time.Second
	// longest is how long nothing is looked at: timers know nothing of a clock that was set, or of a machine that slept.
	longest = 5 * time.Minute
	timeout = time.Minute
)

// Reconciler carries jobs out.
type Reconciler struct {
	// Client writes, and reads from a cache.
	Client client.Client
	// Live reads from the API server.
	Live    client.Reader
	Targets *target.Set
	// Prometheus answers health checks.
	Prometheus prometheus.Source
	Recorder   events.EventRecorder
	Clock      clock.PassiveClock
}

// Reconcile observes once, decides once, writes the status, and does what was decided.
func (r *Reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	var job v1beta1.UpgradeJob
	if err := r.Client.Get(ctx, req.NamespacedName, &job); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if job.Finished() && len(job.Finalizers) == 0 { // nothing of it is left to do
		return ctrl.Result{}, nil
	}
	in, err := r.observe(ctx, &job)
	if err != nil { // nothing is concluded from what could not be read
		return ctrl.Result{}, fmt.Errorf("observe UpgradeJob %s: %w", job.Name, err)
	}
	d := maintenance.Decide(in)
	if err := r.write(ctx, &job, d); err != nil {
		return stale(err)
	}
	again := min(d.LookAgain, longest)
	for _, a := range d.Actions {
		log.FromContext(ctx).Info("acting", "action", a.Kind, "pool", a.Pool, "event", a.Event)
		// One that fails keeps no other one from being done: a pool that cannot be let go must not keep the lock.
		if err := r.act(ctx, in.Target.Kind, &job, a); err != nil {
			log.FromContext(ctx).Error(err, "could not act", "action", a.Kind)
			again = r.failed(&job, a, err)
		}
	}
	return ctrl.Result{RequeueAfter: again}, nil
}

// failed tells of an action that could not be done, unless somebody else wrote first. It is decided on again soon: deadlines do not wait
// for a back-off.
func (r *Reconciler) failed(job *v1beta1.UpgradeJob, a maintenance.Action, err error) time.Duration {
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		return staleAfter
	}
	r.Recorder.Eventf(job, nil, corev1.EventTypeWarning, "ActionFailed", string(a.Kind), "%s", brief(err.Error()))
	return failedAfter
}

// write stores the status and tells what came of it. Before anything is done it is stored though nothing in it changed: the API
// server refuses that where the decision rests on an older version of the job, and so no stale cache runs a hook twice.
func (r *Reconciler) write(ctx context.Context, job *v1beta1.UpgradeJob, d maintenance.Decision) error {
	if len(d.Actions) == 0 && equality.Semantic.DeepEqual(job.Status, d.Status) {
		return nil
	}
	before := job.Status
	job.Status = d.Status
	if err := r.Client.Status().Update(ctx, job); err != nil {
		return fmt.Errorf("write the status of UpgradeJob %s: %w", job.Name, err)
	}
	r.announce(job, before)
	return nil
}

// stale turns a lost race into another look.
func stale(err error) (ctrl.Result, error) {
	if apierrors.IsConflict(err) {
		return ctrl.Result{RequeueAfter: staleAfter}, nil
	}
	return ctrl.Result{}, client.IgnoreNotFound(err)
}
