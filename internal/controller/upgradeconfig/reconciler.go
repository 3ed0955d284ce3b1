// Package upgradeconfig creates an UpgradeJob for every maintenance window. What is due, package maintenance decides.
package upgradeconfig

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"refit.dev/refit/api/managedupgrade/v1beta1"
	"refit.dev/refit/internal/maintenance"
	"refit.dev/refit/internal/target"
)

const (
	// staleAfter is when to look again after somebody else wrote first.
	staleAfter = 200 * time.Millisecond
	// longest is how long nothing is looked at: timers know nothing of a clock that was set, or of a machine that slept.
	longest = 5 * time.Minute
	timeout = time.Minute
)

// Reconciler creates jobs.
type Reconciler struct {
	// Client writes, and reads from a cache.
	Client client.Client
	// Live reads from the API server: a job is created only after another look there.
	Live     client.Reader
	Targets  *target.Set
	Recorder events.EventRecorder
	Clock    clock.PassiveClock
}

// Reconcile observes once, decides once, creates the job that is due, writes the status, and removes old jobs.
func (r *Reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	config, d, err := r.decide(ctx, r.Client, req)
	if err == nil && config != nil && d.Create != nil {
		config, d, err = r.decide(ctx, r.Live, req) // no stale cache creates a second job
	}
	if err != nil || config == nil {
		return ctrl.Result{}, err
	}
	if d.Create != nil {
		// The name is worked out from the slot: a manager that was killed before it wrote the status creates no second one.
		if err := r.create(ctx, config, d.Create); err != nil {
			r.Recorder.Eventf(config, nil, corev1.EventTypeWarning, "JobNotCreated", "Schedule", "%.800s", err.Error())
			return ctrl.Result{}, err
		}
	}
	if err := r.write(ctx, config, d); err != nil {
		if apierrors.IsConflict(err) {
			return ctrl.Result{RequeueAfter: staleAfter}, nil
		}
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	for _, name := range d.Delete {
		job := &v1beta1.UpgradeJob{ObjectMeta: metav1.ObjectMeta{Namespace: config.Namespace, Name: name}}
		if err := r.Client.Delete(ctx, job); client.IgnoreNotFound(err) != nil {
			return ctrl.Result{}, fmt.Errorf("delete the old UpgradeJob %s: %w", name, err)
		}
	}
	return ctrl.Result{RequeueAfter: min(d.LookAgain, longest)}, nil
}

// create makes the job. One of that name that is there already was made for this config, or else is about to go with an earlier one.
func (r *Reconciler) create(ctx context.Context, config *v1beta1.UpgradeConfig, job *v1beta1.UpgradeJob) error {
	err := r.Client.Create(ctx, job)
	if !apierrors.IsAlreadyExists(err) {
		return client.IgnoreAlreadyExists(wrap(err, job.Name))
	}
	var have v1beta1.UpgradeJob
	if err := r.Live.Get(ctx, client.ObjectKeyFromObject(job), &have); err != nil {
		return wrap(err, job.Name)
	}
	if !metav1.IsControlledBy(&have, config) {
		return fmt.Errorf("create UpgradeJob %s: there is one of that name that belongs to another UpgradeConfig, or to an earlier one of this name", job.Name)
	}
	return nil
}

func wrap(err error, job string) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("create UpgradeJob %s: %w", job, err)
}

// decide observes and decides; the config is nil where it is gone.
func (r *Reconciler) decide(ctx context.Context, reader client.Reader, req ctrl.Request) (*v1beta1.UpgradeConfig, maintenance.ConfigDecision, error) {
	var config v1beta1.UpgradeConfig
	var none maintenance.ConfigDecision
	if err := reader.Get(ctx, req.NamespacedName, &config); err != nil {
		return nil, none, client.IgnoreNotFound(err)
	}
	if config.DeletionTimestamp != nil {
		return nil, none, nil
	}
	in := maintenance.ConfigInput{Config: &config}
	var jobs v1beta1.UpgradeJobList
	if err := reader.List(ctx, &jobs, client.InNamespace(config.Namespace)); err != nil {
		return nil, none, fmt.Errorf("list UpgradeJobs: %w", err)
	}
	for _, job := range jobs.Items {
		if metav1.IsControlledBy(&job, &config) {
			in.Jobs = append(in.Jobs, job)
		}
	}
	var windows v1beta1.UpgradeSuspensionWindowList
	if err := reader.List(ctx, &windows, client.InNamespace(config.Namespace)); err != nil {
		return nil, none, fmt.Errorf("list UpgradeSuspensionWindows: %w", err)
	}
	in.Windows = windows.Items
	in.Now = r.Clock.Now()
	d := maintenance.Schedule(in)
	if d.Create == nil {
		return &config, d, nil
	}
	// Only now the versions matter.
	available, err := r.Targets.For(config.Spec.JobTemplate.Spec.Config.Target).Available(ctx)
	if in.Available = available; err != nil {
		in.Problem = err.Error()
	}
	return &config, maintenance.Schedule(in), nil
}

// write stores the status where it changed, and tells what came of it.
func (r *Reconciler) write(ctx context.Context, config *v1beta1.UpgradeConfig, d maintenance.ConfigDecision) error {
	if equality.Semantic.DeepEqual(config.Status, d.Status) {
		return nil
	}
	config.Status = d.Status
	if err := r.Client.Status().Update(ctx, config); err != nil {
		return fmt.Errorf("write the status of UpgradeConfig %s: %w", config.Name, err)
	}
	for _, e := range d.Events {
		kind := corev1.EventTypeNormal
		if e.Warning {
			kind = corev1.EventTypeWarning
		}
		r.Recorder.Eventf(config, nil, kind, e.Reason, "Schedule", "%s", e.Message)
	}
	return nil
}
