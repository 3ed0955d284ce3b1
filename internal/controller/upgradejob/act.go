package upgradejob

import (
	"context"
	"errors"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"refit.dev/refit/api/managedupgrade/v1beta1"
	"refit.dev/refit/internal/hook"
	"refit.dev/refit/internal/maintenance"
)

// errStale says that what was decided on is not so any more.
var errStale = errors.New("it has changed since")

// act does one thing. Each may have been done before, by a manager that was killed just after.
func (r *Reconciler) act(ctx context.Context, kind v1beta1.TargetKind, job *v1beta1.UpgradeJob, a maintenance.Action) error {
	switch a.Kind {
	case maintenance.Hold, maintenance.LetGo:
		return r.finalizer(ctx, job, a.Kind == maintenance.Hold)
	case maintenance.Claim:
		return r.claim(ctx, job, a.Hook)
	case maintenance.RunHook:
		return r.runHook(ctx, job, a)
	case maintenance.FreeRun:
		return r.freeRun(ctx, job, a.Run)
	}
	if err := r.Targets.For(kind).Do(ctx, job, a); err != nil {
		return fmt.Errorf("%s for UpgradeJob %s: %w", a.Kind, job.Name, err)
	}
	return nil
}

func (r *Reconciler) finalizer(ctx context.Context, job *v1beta1.UpgradeJob, hold bool) error {
	patch := client.MergeFromWithOptions(job.DeepCopy(), client.MergeFromWithOptimisticLock{})
	if hold {
		controllerutil.AddFinalizer(job, v1beta1.FinalizerJob)
	} else {
		controllerutil.RemoveFinalizer(job, v1beta1.FinalizerJob)
	}
	if err := r.Client.Patch(ctx, job, patch); err != nil {
		return fmt.Errorf("change the finalizers of UpgradeJob %s: %w", job.Name, err)
	}
	return nil
}

// claim makes a hook with run: Next the job's, unless another one was first.
func (r *Reconciler) claim(ctx context.Context, job *v1beta1.UpgradeJob, h *v1beta1.UpgradeJobHook) error {
	claimed := h.DeepCopy()
	claimed.Status.ClaimedBy = &v1beta1.ClaimReference{APIVersion: v1beta1.GroupVersion.String(), Kind: "UpgradeJob", Name: job.Name, UID: job.UID}
	if err := r.Client.Status().Update(ctx, claimed); err != nil {
		return fmt.Errorf("claim UpgradeJobHook %s: %w", h.Name, err)
	}
	return nil
}

// runHook makes the Job of a hook. A hook that the API server refuses counts as a run that failed, and is on record as such.
func (r *Reconciler) runHook(ctx context.Context, job *v1beta1.UpgradeJob, a maintenance.Action) error {
	made, err := hook.Job(a.Hook, job, hook.About(job, a.Event, a.TrackingKey, r.Clock.Now()))
	if err != nil {
		return err
	}
	err = r.Client.Create(ctx, made)
	switch {
	case apierrors.IsAlreadyExists(err):
		return r.ours(ctx, job, made)
	case apierrors.IsInvalid(err), apierrors.IsForbidden(err), apierrors.IsBadRequest(err):
		return r.refused(ctx, job, a, err)
	case err != nil:
		return fmt.Errorf("create Job %s of hook %s: %w", made.Name, a.Hook.Name, err)
	}
	r.Recorder.Eventf(job, a.Hook, corev1.EventTypeNormal, "HookStarted", "RunHook", "Hook %s runs at %s as Job %s", a.Hook.Name, a.Event, made.Name)
	return nil
}

// ours makes sure that the Job which stands in the way is the one that is wanted.
func (r *Reconciler) ours(ctx context.Context, job *v1beta1.UpgradeJob, made *batchv1.Job) error {
	var have batchv1.Job
	if err := r.Live.Get(ctx, client.ObjectKeyFromObject(made), &have); err != nil {
		return client.IgnoreNotFound(err)
	}
	if !metav1.IsControlledBy(&have, job) {
		return fmt.Errorf("Job %s exists and is not of UpgradeJob %s: delete it, or rename the hook", made.Name, job.Name)
	}
	return nil
}

func (r *Reconciler) refused(ctx context.Context, job *v1beta1.UpgradeJob, a maintenance.Action, cause error) error {
	job.Status.HookTracker = append(job.Status.HookTracker, v1beta1.HookTracker{HookEvent: a.Event, TrackingKey: a.TrackingKey,
		UpgradeJobHook: a.Hook.Name, Status: v1beta1.HookFailed, Message: "the API server refuses its Job: " + cause.Error()})
	r.Recorder.Eventf(job, a.Hook, corev1.EventTypeWarning, "HookFailed", "RunHook", "The API server refuses the Job of hook %s at %s: %v", a.Hook.Name, a.Event, cause)
	if err := r.Client.Status().Update(ctx, job); err != nil {
		return fmt.Errorf("record that the Job of hook %s was refused: %w", a.Hook.Name, err)
	}
	return nil
}

// freeRun lets a Job go whose result is on record.
func (r *Reconciler) freeRun(ctx context.Context, job *v1beta1.UpgradeJob, name string) error {
	var j batchv1.Job
	if err := r.Live.Get(ctx, client.ObjectKey{Namespace: job.Namespace, Name: name}, &j); err != nil {
		return client.IgnoreNotFound(err)
	}
	patch := client.MergeFromWithOptions(j.DeepCopy(), client.MergeFromWithOptimisticLock{})
	if !metav1.IsControlledBy(&j, job) || !controllerutil.RemoveFinalizer(&j, v1beta1.FinalizerHookJob) {
		return nil
	}
	if err := r.Client.Patch(ctx, &j, patch); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("let Job %s go: %w", name, err)
	}
	return nil
}
