package kubernetesupgrade

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/rollout"
)

const (
	fieldOwner = "refit-networking"
	// defaultNetworkingTimeout applies where the version names none.
	defaultNetworkingTimeout = 10 * time.Minute
)

// networkingProgress looks at what the step has applied: done, failed, or still on its way.
func (r *Reconciler) networkingProgress(ctx context.Context, t *turn) rollout.Networking {
	n := rollout.Networking{Version: t.networking.Version, Resume: t.networking.Resume}
	if n.Version == "" || n.Version == t.upgrade.Status.NetworkedVersion {
		return n
	}
	kv := t.seen.Version(n.Version)
	if kv == nil || kv.Spec.Networking == nil {
		n.Done = true
		return n
	}
	var waiting string
	if waiting, n.Failed = r.look(ctx, t, kv.Spec.Networking); n.Failed != "" {
		return n
	}
	if waiting == "" && !t.networking.Applied {
		waiting = "not every manifest has been applied"
	}
	if n.Done = waiting == ""; n.Done {
		return n
	}
	if p := t.networking.Problem; p != nil {
		waiting = p.Text
		if p.final(r.Clock.Now()) {
			n.Failed = p.Text
			return n
		}
	}
	if limit := timeoutOf(kv.Spec.Networking); r.Clock.Since(t.networking.StartedAt.Time) > limit {
		n.Failed = fmt.Sprintf("not done within %s: %s", duration.HumanDuration(limit), waiting)
	}
	return n
}

// look says which of the manifests' objects has not come to rest, and which will not; both are empty where all have.
func (r *Reconciler) look(ctx context.Context, t *turn, networking *v1alpha1.Networking) (waiting, failed string) {
	source, err := r.source(ctx, networking)
	switch {
	case apierrors.IsNotFound(err):
		return "", err.Error()
	case err != nil:
		t.unseen = err
		return err.Error(), ""
	}
	objects, err := documents(source)
	if err != nil {
		return "", err.Error()
	}
	for _, o := range objects {
		live := o.DeepCopy()
		switch err := r.Client.Get(ctx, client.ObjectKeyFromObject(o), live); {
		case apierrors.IsNotFound(err) || meta.IsNoMatchError(err):
			waiting = describe(o) + " has not been applied"
		case err != nil:
			t.unseen = fmt.Errorf("look at %s: %w", describe(o), err)
			waiting = t.unseen.Error()
		default:
			done, failed, why := progress(live)
			if failed {
				return "", why
			}
			if !done {
				waiting = why
			}
		}
	}
	return waiting, ""
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
		if err := r.record(ctx, t, networkingRecord{Version: a.Version, StartedAt: metav1.NewTime(r.Clock.Now()), Resume: a.Resume}); err != nil {
			return err
		}
	}
	err := r.applyAll(ctx, kv.Spec.Networking, fmt.Sprintf("%s/%s/%d", t.upgrade.UID, a.Version, a.Resume))
	next := t.networking
	next.Applied = next.Applied || err == nil
	if err == nil {
		err = t.unseen
	}
	if err != nil && !answered(err) {
		return err
	}
	next.Problem = next.Problem.after(err, kv.Spec.Networking, r.Clock.Now())
	return r.record(ctx, t, next)
}

func (r *Reconciler) applyAll(ctx context.Context, networking *v1alpha1.Networking, step string) error {
	source, err := r.source(ctx, networking)
	if err != nil {
		return err
	}
	objects, err := documents(source)
	if err != nil {
		return err
	}
	for _, o := range objects {
		if err := r.apply(ctx, o, step); err != nil {
			return err
		}
	}
	return nil
}
