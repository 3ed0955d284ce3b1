// Package claim carries out what the planner decided about single nodes: it creates, starts, retries, aborts and forgets
// NodeUpgrades. Every change of an existing one rests on its resourceVersion, so that of two who decide on it one wins.
package claim

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/rollout"
	"refit.dev/refit/internal/snapshot"
)

// Owner is on whose behalf nodes are claimed.
type Owner struct {
	// Upgrade is the name of the KubernetesUpgrade, for the label refit.dev/upgrade.
	Upgrade string
	// Reference makes the claims go when their owner goes.
	Reference metav1.OwnerReference
	// Drain is the drain policy for the nodes.
	Drain *v1alpha1.DrainPolicy
	// Turn allows nodes to be begun; nil where none is.
	Turn *Turn
}

// Begins says whether one of the actions takes a node out of service.
func Begins(actions []rollout.Action) bool {
	return slices.ContainsFunc(actions, func(a rollout.Action) bool { return a.Kind == rollout.Start || a.Kind == rollout.Retry })
}

// OnNode says whether an action is one for Carry.
func OnNode(a rollout.Action) bool {
	switch a.Kind {
	case rollout.Stage, rollout.Start, rollout.Retry, rollout.Abort, rollout.Forget:
		return true
	}
	return false
}

// Carry does one action on a node, and returns the claim as it was written, nil where there is none (any more). It returns an IsConflict
// error where somebody changed the claim since it was observed.
func Carry(ctx context.Context, c client.Client, seen *snapshot.Cluster, o Owner, a rollout.Action) (client.Object, error) {
	if a.Kind == rollout.Stage {
		return stage(ctx, c, seen, o, a)
	}
	nu := find(seen, a.Name)
	if nu == nil {
		return nil, nil // it is gone; the next observation decides anew
	}
	if a.Kind == rollout.Forget {
		err := c.Delete(ctx, nu, client.Preconditions{UID: &nu.UID, ResourceVersion: &nu.ResourceVersion})
		return nil, wrap("forget", a.Name, client.IgnoreNotFound(err))
	}
	if Begins([]rollout.Action{a}) {
		if err := o.Turn.check(); err != nil {
			return nil, err
		}
	}
	changed := nu.DeepCopy()
	switch a.Kind {
	case rollout.Start:
		changed.Spec.Hold, changed.Spec.FirstNodeToBeUpgraded = false, a.First
		changed.Spec.Drain = o.Drain
		if a.Drain != nil {
			changed.Spec.Drain = a.Drain
		}
		mark(changed, a.Resume)
	case rollout.Retry:
		changed.Spec.Hold, changed.Spec.Abort, changed.Spec.FirstNodeToBeUpgraded = false, false, a.First
		changed.Spec.Retry++
		mark(changed, a.Resume)
	case rollout.Abort:
		changed.Spec.Abort = true
	default:
		return nil, fmt.Errorf("%s is no action on a node", a.Kind)
	}
	if err := c.Update(ctx, changed); err != nil {
		return nil, wrap(string(a.Kind), a.Name, err)
	}
	return changed, nil
}

// stage creates the claim, held. That it exists already is no error: its name says what it is for.
func stage(ctx context.Context, c client.Client, seen *snapshot.Cluster, o Owner, a rollout.Action) (client.Object, error) {
	node := seen.Node(a.Node)
	if node == nil {
		return nil, nil
	}
	nu := &v1alpha1.NodeUpgrade{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: v1alpha1.Namespace, Name: a.Name, OwnerReferences: []metav1.OwnerReference{o.Reference},
			Labels:     map[string]string{v1alpha1.LabelUpgrade: o.Upgrade, v1alpha1.LabelVersion: a.Version},
			Finalizers: []string{v1alpha1.Finalizer},
		},
		Spec: v1alpha1.NodeUpgradeSpec{
			Machine:           corev1.ObjectReference{APIVersion: "v1", Kind: "Node", Name: a.Node, UID: types.UID(node.UID)},
			KubernetesVersion: a.Version, NodeType: node.Type(), FirstNodeToBeUpgraded: a.First, Hold: true, Drain: o.Drain,
		},
	}
	if len(a.Node) <= validation.LabelValueMaxLength {
		nu.Labels[v1alpha1.LabelNode] = a.Node
	}
	if kv := seen.Version(a.Version); kv != nil && node.ControlPlane {
		if etcd := kv.Component("etcd"); etcd != "" {
			nu.Spec.EtcdVersion = &etcd
		}
	}
	mark(nu, a.Resume)
	err := c.Create(ctx, nu)
	switch {
	case apierrors.IsAlreadyExists(err):
		return nil, nil
	case err != nil:
		return nil, wrap("create", a.Name, err)
	}
	return nu, nil
}

func mark(nu *v1alpha1.NodeUpgrade, resume int64) {
	metav1.SetMetaDataAnnotation(&nu.ObjectMeta, v1alpha1.AnnotationResume, strconv.FormatInt(resume, 10))
}

func find(seen *snapshot.Cluster, name string) *v1alpha1.NodeUpgrade {
	for _, nu := range seen.NodeUpgrades {
		if nu.Name == name {
			return nu
		}
	}
	return nil
}

func wrap(doing, name string, err error) error {
	if err != nil {
		return fmt.Errorf("%s NodeUpgrade %s: %w", doing, name, err)
	}
	return nil
}
