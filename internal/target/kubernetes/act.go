package kubernetes

import (
	"context"
	"fmt"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"refit.dev/refit/api/managedupgrade/v1beta1"
	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/maintenance"
	"refit.dev/refit/internal/target"
)

// Do carries an action out. Each writes only where nobody wrote since it looked.
func (t *Target) Do(ctx context.Context, job *v1beta1.UpgradeJob, a maintenance.Action) error {
	switch a.Kind {
	case maintenance.Lock:
		return t.lock(ctx, maintenance.Name(job))
	case maintenance.Unlock:
		return t.unlock(ctx, maintenance.Name(job))
	case maintenance.Install:
		return t.install(ctx, job)
	case maintenance.Halt:
		return t.halt(ctx, job)
	}
	return nil // there are no pools
}

func (t *Target) lock(ctx context.Context, me string) error {
	var l coordinationv1.Lease
	err := t.Live.Get(ctx, lease, &l)
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("read Lease %s: %w", lease, err)
	}
	if holder := ptr.Deref(l.Spec.HolderIdentity, ""); holder != "" && holder != me {
		ended, err := target.JobEnded(ctx, t.Live, holder)
		if err != nil {
			return err
		}
		if !ended {
			return fmt.Errorf("the lock is %s's", holder)
		}
	}
	l.Spec.HolderIdentity, l.Spec.AcquireTime = &me, &metav1.MicroTime{Time: t.Clock.Now()}
	if apierrors.IsNotFound(err) {
		l.Namespace, l.Name = lease.Namespace, lease.Name
		err = t.Client.Create(ctx, &l)
	} else {
		err = t.Client.Update(ctx, &l)
	}
	if err != nil {
		return fmt.Errorf("take Lease %s: %w", lease, err)
	}
	return nil
}

func (t *Target) unlock(ctx context.Context, me string) error {
	var l coordinationv1.Lease
	if err := t.Live.Get(ctx, lease, &l); err != nil {
		return client.IgnoreNotFound(err)
	}
	if ptr.Deref(l.Spec.HolderIdentity, "") != me {
		return nil
	}
	l.Spec.HolderIdentity = nil
	if err := t.Client.Update(ctx, &l); err != nil {
		return fmt.Errorf("give Lease %s back: %w", lease, err)
	}
	return nil
}

// install makes the KubernetesUpgrade, or goes on with one that an earlier job could not finish.
func (t *Target) install(ctx context.Context, job *v1beta1.UpgradeJob) error {
	var l coordinationv1.Lease
	if err := t.Live.Get(ctx, lease, &l); err != nil {
		return fmt.Errorf("read Lease %s: %w", lease, err)
	}
	if holder := ptr.Deref(l.Spec.HolderIdentity, ""); holder != maintenance.Name(job) {
		return fmt.Errorf("the lock is not the job's but %q's", holder)
	}
	_, upgrades, err := t.read(ctx)
	if err != nil {
		return err
	}
	if ownOf(upgrades, job) != nil {
		return nil
	}
	if u := unfinished(upgrades); u != nil {
		if !adoptable(u) || u.Spec.ToVersion != job.Version() {
			return fmt.Errorf("KubernetesUpgrade %s has not ended", u.Name)
		}
		if err := t.note(ctx, job, u.Name); err != nil {
			return err
		}
		return t.change(ctx, u, func() {
			metav1.SetMetaDataAnnotation(&u.ObjectMeta, v1beta1.AnnotationLock, maintenance.Name(job))
			delete(u.Annotations, v1beta1.AnnotationPausedBy)
			u.Spec.Paused = false
			u.Spec.ExcludedGates = options(job).ExcludedGates
			if stopped(u) {
				u.Spec.Resume = max(u.Spec.Resume, u.Status.Resumed) + 1
			}
		})
	}
	u := &v1alpha1.KubernetesUpgrade{
		ObjectMeta: metav1.ObjectMeta{Name: upgradeName(job),
			Annotations: map[string]string{v1beta1.AnnotationLock: maintenance.Name(job)}},
		Spec: v1alpha1.KubernetesUpgradeSpec{ToVersion: job.Version(), Mode: v1alpha1.ModeAutomatic, Plan: options(job).Plan, ExcludedGates: options(job).ExcludedGates},
	}
	if err := t.Client.Create(ctx, u); err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("create a KubernetesUpgrade to %s: %w", job.Version(), err)
	}
	return t.note(ctx, job, u.Name)
}

// note records on the job which upgrade it drives.
func (t *Target) note(ctx context.Context, job *v1beta1.UpgradeJob, name string) error {
	patch := client.MergeFrom(job.DeepCopy())
	metav1.SetMetaDataAnnotation(&job.ObjectMeta, annotationUpgrade, name)
	if err := t.Client.Patch(ctx, job, patch); err != nil {
		return fmt.Errorf("record the KubernetesUpgrade of UpgradeJob %s: %w", job.Name, err)
	}
	return nil
}

// options are those of the job, empty where it has none.
func options(job *v1beta1.UpgradeJob) v1beta1.KubernetesUpgradeOptions {
	return ptr.Deref(job.Spec.Config.KubernetesUpgrade, v1beta1.KubernetesUpgradeOptions{})
}

// halt has the job's upgrade begin no further node: nothing starts outside its window.
func (t *Target) halt(ctx context.Context, job *v1beta1.UpgradeJob) error {
	_, upgrades, err := t.read(ctx)
	if err != nil {
		return err
	}
	u := ownOf(upgrades, job)
	if u == nil || u.Finished() || u.Spec.Paused || u.DeletionTimestamp != nil {
		return nil
	}
	return t.change(ctx, u, func() {
		u.Spec.Paused = true
		metav1.SetMetaDataAnnotation(&u.ObjectMeta, v1beta1.AnnotationPausedBy, maintenance.Name(job))
	})
}

func (t *Target) change(ctx context.Context, u *v1alpha1.KubernetesUpgrade, set func()) error {
	patch := client.MergeFromWithOptions(u.DeepCopy(), client.MergeFromWithOptimisticLock{})
	set()
	if err := t.Client.Patch(ctx, u, patch); err != nil {
		return fmt.Errorf("change KubernetesUpgrade %s: %w", u.Name, err)
	}
	return nil
}
