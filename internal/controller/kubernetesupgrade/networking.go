package kubernetesupgrade

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/rollout"
)

// annotationNetworking is set on a KubernetesUpgrade when a networking step begins, before anything is applied.
const annotationNetworking = "refit.dev/networking"

const (
	fieldOwner = "refit-networking"
	// defaultNetworkingTimeout applies where the version names none.
	defaultNetworkingTimeout = 10 * time.Minute
)

// networkingRecord is what is known of the networking step begun last.
type networkingRecord struct {
	Version   string      `json:"version,omitempty"`
	StartedAt metav1.Time `json:"startedAt,omitempty"`
	Resume    int64       `json:"resume,omitempty"`
}

func recordOf(u *v1alpha1.KubernetesUpgrade) (networkingRecord, error) {
	var r networkingRecord
	text, ok := u.Annotations[annotationNetworking]
	if !ok {
		return r, nil
	}
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		return r, fmt.Errorf("read annotation %s of KubernetesUpgrade %s (remove the annotation to run the step again): %w", annotationNetworking, u.Name, err)
	}
	return r, nil
}

// networkingProgress looks at what the step has applied: done, failed, or still on its way.
func (r *Reconciler) networkingProgress(ctx context.Context, t *turn) (rollout.Networking, error) {
	n := rollout.Networking{Version: t.networking.Version, Resume: t.networking.Resume}
	if n.Version == "" || n.Version == t.upgrade.Status.NetworkedVersion {
		return n, nil
	}
	kv := t.seen.Version(n.Version)
	if kv == nil || kv.Spec.Networking == nil {
		n.Done = true
		return n, nil
	}
	objects, err := r.manifests(ctx, kv.Spec.Networking)
	if err != nil {
		n.Failed = err.Error()
		return n, nil
	}
	var waiting string
	for _, o := range objects {
		key := client.ObjectKeyFromObject(o)
		live := o.DeepCopy()
		switch err := r.Client.Get(ctx, key, live); {
		case apierrors.IsNotFound(err) || meta.IsNoMatchError(err):
			waiting = describe(o) + " has not been applied"
		case err != nil:
			return n, fmt.Errorf("look at %s: %w", describe(o), err)
		default:
			done, failed, why := progress(live)
			if failed {
				n.Failed = why
				return n, nil
			}
			if !done {
				waiting = why
			}
		}
	}
	n.Done = waiting == ""
	if limit := timeoutOf(kv.Spec.Networking); !n.Done && r.Clock.Since(t.networking.StartedAt.Time) > limit {
		n.Failed = fmt.Sprintf("not done within %s: %s", limit, waiting)
	}
	return n, nil
}

func timeoutOf(n *v1alpha1.Networking) time.Duration {
	if n.Timeout == nil || n.Timeout.Duration <= 0 {
		return defaultNetworkingTimeout
	}
	return n.Timeout.Duration
}

// runNetworking records that the step has begun, and applies its manifests. Applying again what is there changes nothing.
func (r *Reconciler) runNetworking(ctx context.Context, t *turn, a rollout.Action) error {
	kv := t.seen.Version(a.Version)
	if kv == nil || kv.Spec.Networking == nil {
		return nil
	}
	if t.networking.Version != a.Version || t.networking.Resume < a.Resume {
		text, err := json.Marshal(networkingRecord{Version: a.Version, StartedAt: metav1.NewTime(r.Clock.Now()), Resume: a.Resume})
		if err != nil {
			return err
		}
		patch := client.MergeFromWithOptions(t.upgrade.DeepCopy(), client.MergeFromWithOptimisticLock{})
		metav1.SetMetaDataAnnotation(&t.upgrade.ObjectMeta, annotationNetworking, string(text))
		if err := r.Client.Patch(ctx, t.upgrade, patch); err != nil {
			return fmt.Errorf("record the start of the networking step: %w", err)
		}
	}
	objects, err := r.manifests(ctx, kv.Spec.Networking)
	if err != nil {
		return nil // the next look at the progress says so, and fails the step
	}
	for _, o := range objects {
		if err := r.apply(ctx, o); err != nil {
			return err
		}
	}
	return nil
}
