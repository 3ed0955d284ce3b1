package openshift

import (
	"context"
	"fmt"

	configv1 "github.com/openshift/api/config/v1"
	mcfgv1 "github.com/openshift/api/machineconfiguration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"refit.dev/refit/api/managedupgrade/v1beta1"
	"refit.dev/refit/internal/maintenance"
	"refit.dev/refit/internal/target"
)

// Do carries an action out. It writes only what it changes, so that fields that are newer than what Refit knows of OpenShift stay, and only
// where nobody wrote since it looked.
func (t *Target) Do(ctx context.Context, job *v1beta1.UpgradeJob, a maintenance.Action) error {
	me := maintenance.Name(job)
	switch a.Kind {
	case maintenance.Lock:
		return t.version(ctx, func(cv *configv1.ClusterVersion) error { return t.lock(ctx, cv, me) })
	case maintenance.Unlock:
		return t.version(ctx, func(cv *configv1.ClusterVersion) error {
			if cv.Annotations[v1beta1.AnnotationLock] == me {
				delete(cv.Annotations, v1beta1.AnnotationLock)
			}
			return nil
		})
	case maintenance.Install:
		return t.version(ctx, func(cv *configv1.ClusterVersion) error {
			if holder := cv.Annotations[v1beta1.AnnotationLock]; holder != me {
				return fmt.Errorf("the lock is %s's", either(holder, "nobody"))
			}
			cv.Spec.DesiredUpdate = job.Spec.DesiredVersion.DeepCopy()
			return nil
		})
	case maintenance.PausePool:
		return t.pool(ctx, a.Pool, func(p *mcfgv1.MachineConfigPool) {
			if !p.Spec.Paused {
				p.Spec.Paused = true
				metav1.SetMetaDataAnnotation(&p.ObjectMeta, v1beta1.AnnotationPausedBy, me)
			}
		})
	case maintenance.UnpausePool:
		return t.pool(ctx, a.Pool, func(p *mcfgv1.MachineConfigPool) {
			if p.Annotations[v1beta1.AnnotationPausedBy] == me {
				p.Spec.Paused = false
				delete(p.Annotations, v1beta1.AnnotationPausedBy)
			}
		})
	case maintenance.StopPool:
		return t.pool(ctx, a.Pool, func(p *mcfgv1.MachineConfigPool) {
			if by := p.Annotations[v1beta1.AnnotationPausedBy]; !p.Spec.Paused || by == me {
				p.Spec.Paused = true
				delete(p.Annotations, v1beta1.AnnotationPausedBy)
				metav1.SetMetaDataAnnotation(&p.ObjectMeta, v1beta1.AnnotationPausedOnFailure, me)
			}
		})
	}
	return nil // the rest is not OpenShift's
}

// lock takes the lock, unless somebody holds it who has not ended.
func (t *Target) lock(ctx context.Context, cv *configv1.ClusterVersion, me string) error {
	if holder := cv.Annotations[v1beta1.AnnotationLock]; holder != "" && holder != me {
		ended, err := target.JobEnded(ctx, t.Live, holder)
		if err != nil {
			return err
		}
		if !ended {
			return fmt.Errorf("the lock is %s's", holder)
		}
	}
	metav1.SetMetaDataAnnotation(&cv.ObjectMeta, v1beta1.AnnotationLock, me)
	return nil
}

func (t *Target) version(ctx context.Context, change func(*configv1.ClusterVersion) error) error {
	var cv configv1.ClusterVersion
	if err := t.Live.Get(ctx, client.ObjectKey{Name: Name}, &cv); err != nil {
		return fmt.Errorf("read ClusterVersion %s: %w", Name, err)
	}
	patch := client.MergeFromWithOptions(cv.DeepCopy(), client.MergeFromWithOptimisticLock{})
	if err := change(&cv); err != nil {
		return fmt.Errorf("change ClusterVersion %s: %w", Name, err)
	}
	if err := t.Client.Patch(ctx, &cv, patch); err != nil {
		return fmt.Errorf("change ClusterVersion %s: %w", Name, err)
	}
	return nil
}

func (t *Target) pool(ctx context.Context, name string, change func(*mcfgv1.MachineConfigPool)) error {
	var p mcfgv1.MachineConfigPool
	if err := t.Live.Get(ctx, client.ObjectKey{Name: name}, &p); err != nil {
		return client.IgnoreNotFound(err) // a pool that is gone holds nothing
	}
	patch := client.MergeFromWithOptions(p.DeepCopy(), client.MergeFromWithOptimisticLock{})
	change(&p)
	if err := t.Client.Patch(ctx, &p, patch); err != nil {
		return fmt.Errorf("change machine config pool %s: %w", name, err)
	}
	return nil
}
