package kubernetesupgrade

import (
	"context"
	"fmt"
	"strconv"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/controller/claim"
	"refit.dev/refit/internal/rollout"
	"refit.dev/refit/internal/snapshot"
)

var kind = v1alpha1.GroupVersion.WithKind("KubernetesUpgrade")

// carry does one action, and returns the claim that it wrote. Each may have been done before, by a manager that was killed just after.
func (r *Reconciler) carry(ctx context.Context, t *turn, a rollout.Action) (written client.Object, err error) {
	switch a.Kind {
	case rollout.ApplyControlPlane:
		return nil, r.applyControlPlane(ctx, t, a)
	case rollout.RunNetworking:
		return nil, r.runNetworking(ctx, t, a)
	case rollout.RunVerification:
		return nil, r.runVerification(ctx, t, a)
	default:
		plan, err := rollout.PlanOf(t.seen, t.upgrade.Spec.Plan)
		if err != nil {
			return nil, err
		}
		owner := claim.Owner{Turn: t.right, Upgrade: t.upgrade.Name, Drain: plan.Drain, Reference: *metav1.NewControllerRef(t.upgrade, kind)}
		return claim.Carry(ctx, r.Client, t.seen, owner, a)
	}
}

// applyControlPlane makes the hop's ControlPlaneUpgrade what it should be.
func (r *Reconciler) applyControlPlane(ctx context.Context, t *turn, a rollout.Action) error {
	want := &v1alpha1.ControlPlaneUpgrade{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: v1alpha1.Namespace, Name: a.Name, OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(t.upgrade, kind)},
			Labels: map[string]string{v1alpha1.LabelUpgrade: t.upgrade.Name, v1alpha1.LabelVersion: a.Version},
		},
		Spec: *a.ControlPlane,
	}
	want.Spec.ControlPlane = corev1.ObjectReference{APIVersion: kind.GroupVersion().String(), Kind: kind.Kind, Name: t.upgrade.Name, UID: t.upgrade.UID}
	metav1.SetMetaDataAnnotation(&want.ObjectMeta, v1alpha1.AnnotationResume, strconv.FormatInt(a.Resume, 10))
	have := controlPlaneUpgrade(t.seen, a.Name)
	if have == nil {
		if err := r.Client.Create(ctx, want); err != nil && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("create ControlPlaneUpgrade %s: %w", a.Name, err)
		}
		return nil
	}
	changed := have.DeepCopy()
	changed.Spec = want.Spec
	metav1.SetMetaDataAnnotation(&changed.ObjectMeta, v1alpha1.AnnotationResume, want.Annotations[v1alpha1.AnnotationResume])
	if equality.Semantic.DeepEqual(have, changed) {
		return nil
	}
	if err := r.Client.Update(ctx, changed); err != nil {
		return fmt.Errorf("update ControlPlaneUpgrade %s: %w", a.Name, err)
	}
	return nil
}

func controlPlaneUpgrade(seen *snapshot.Cluster, name string) *v1alpha1.ControlPlaneUpgrade {
	for i := range seen.ControlPlaneUpgrades {
		if seen.ControlPlaneUpgrades[i].Name == name {
			return &seen.ControlPlaneUpgrades[i]
		}
	}
	return nil
}
