package upgradejob

import (
	"context"
	"fmt"
	"time"

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

func about(job *v1beta1.UpgradeJob, a maintenance.Action, now time.Time) hook.Event {
	e := hook.About(job, a.Event, a.TrackingKey, now)
	e.Disruptive = a.Disruptive
	return e
}

// runHook makes the Job of a hook. A hook that the API server refuses counts as a run that failed, and is on record as such.
func (r *Reconciler) runHook(ctx context.Context, job *v1beta1.UpgradeJob, a maintenance.Action) error {
	made, err := hook.Job(a.Hook, job, about(job, a, r.Clock.Now()))
	if err != nil {
		return r.refused(ctx, job, a, err)
	}
	err = r.Client.Create(ctx, made)
	switch {
	case apierrors.IsAlreadyExists(err):
		return r.ours(ctx, job, a, made)
	case apierrors.IsInvalid(err), apierrors.IsForbidden(err), apierrors.IsBadRequest(err), apierrors.IsRequestEntityTooLargeError(err):
		return r.refused(ctx, job, a, fmt.Errorf("the API server refuses its Job: %w", err))
	case err != nil:
		return fmt.Errorf("create Job %s of hook %s: %w", made.Name, a.Hook.Name, err)
	}
	r.Recorder.Eventf(job, a.Hook, corev1.EventTypeNormal, "HookStarted", "RunHook", "Hook %s runs at %s as Job %s", a.Hook.Name, a.Event, made.Name)
	return nil
}

// ours makes sure that the Job which stands in the way is the one that is wanted. Another one is a run that cannot be.
func (r *Reconciler) ours(ctx context.Context, job *v1beta1.UpgradeJob, a maintenance.Action, made *batchv1.Job) error {
	var have batchv1.Job
	if err := r.Live.Get(ctx, client.ObjectKeyFromObject(made), &have); err != nil {
		return client.IgnoreNotFound(err)
	}
	want, is := hook.Run(made), hook.Run(&have)
	if !metav1.IsControlledBy(&have, job) || want.Hook != is.Hook || want.Event != is.Event || want.TrackingKey != is.TrackingKey {
		return r.refused(ctx, job, a, fmt.Errorf("Job %s exists and is another's: delete it, or rename the hook", made.Name))
	}
	return nil
}

func (r *Reconciler) refused(ctx context.Context, job *v1beta1.UpgradeJob, a maintenance.Action, cause error) error {
	job.Status.HookTracker = append(job.Status.HookTracker, v1beta1.HookTracker{HookEvent: a.Event, TrackingKey: a.TrackingKey,
		UpgradeJobHook: a.Hook.Name, Status: v1beta1.HookFailed, Message: brief(cause.Error())})
	r.Recorder.Eventf(job, a.Hook, corev1.EventTypeWarning, "HookFailed", "RunHook", "Hook %s cannot run at %s: %s", a.Hook.Name, a.Event, brief(cause.Error()))
	if err := r.Client.Status().Update(ctx, job); err != nil {
		return fmt.Errorf("record that hook %s cannot run: %w", a.Hook.Name, err)
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
