package clusterversion

import (
	"context"
	"fmt"
	"strings"
	"time"

	configv1 "github.com/openshift/api/config/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"refit.dev/refit/api/managedupgrade/v1beta1"
	"refit.dev/refit/internal/target/openshift"
)

const (
	// staleAfter is when to look again after somebody else wrote first.
	staleAfter = 200 * time.Millisecond
	// refresh is how often to look though nothing woke the controller.
	refresh = 5 * time.Minute
	timeout = time.Minute
)

// Reconciler looks at all ClusterVersions at once: only one of them counts.
type Reconciler struct {
	Client   client.Client
	Recorder events.EventRecorder
	Clock    clock.PassiveClock
	// openShift says that the cluster serves OpenShift's API.
	openShift bool
}

// Reconcile brings OpenShift's ClusterVersion to the object that counts, and writes the statuses that changed.
func (r *Reconciler) Reconcile(ctx context.Context, _ ctrl.Request) (ctrl.Result, error) {
	var list v1beta1.ClusterVersionList
	if err := r.Client.List(ctx, &list); err != nil {
		return ctrl.Result{}, fmt.Errorf("list ClusterVersions: %w", err)
	}
	all := byAge(list.Items)
	if len(all) == 0 {
		return ctrl.Result{}, nil
	}
	now := r.Clock.Now()
	current, _, next := effective(all[0].Spec, now)
	came, err := r.sync(ctx, all[0], current)
	if err == nil {
		err = r.record(ctx, all, now, came)
	}
	switch {
	case apierrors.IsConflict(err):
		return ctrl.Result{RequeueAfter: staleAfter}, nil
	case err != nil:
		return ctrl.Result{}, err
	case next != nil:
		return ctrl.Result{RequeueAfter: min(next.Sub(now), refresh)}, nil
	}
	return ctrl.Result{RequeueAfter: refresh}, nil
}

// record writes the statuses: that of the first one, which counts, and those of the others.
func (r *Reconciler) record(ctx context.Context, all []*v1beta1.ClusterVersion, now time.Time, came outcome) error {
	for i, o := range all {
		status := counted(o, now, came)
		if i > 0 {
			status = ignored(o, all[0], now)
		}
		if err := r.write(ctx, o, status); client.IgnoreNotFound(err) != nil {
			return err
		}
	}
	return nil
}

// sync brings OpenShift's ClusterVersion to what is wanted. It writes only what differs, so that fields that are newer than what Refit
// knows of OpenShift stay, and only where nobody wrote since it looked.
func (r *Reconciler) sync(ctx context.Context, o *v1beta1.ClusterVersion, want v1beta1.OverlaySpec) (outcome, error) {
	if !r.openShift {
		return outcome{v1beta1.ReasonNoOpenShift, "This cluster does not serve OpenShift's API"}, nil
	}
	var upstream configv1.ClusterVersion
	switch err := r.Client.Get(ctx, client.ObjectKey{Name: openshift.Name}, &upstream); {
	case meta.IsNoMatchError(err):
		return outcome{v1beta1.ReasonNoOpenShift, "This cluster does not serve OpenShift's API any more"}, nil
	case apierrors.IsNotFound(err):
		return outcome{v1beta1.ReasonNoClusterVersion, "OpenShift has no ClusterVersion " + openshift.Name}, nil
	case err != nil:
		return outcome{}, fmt.Errorf("read OpenShift's ClusterVersion: %w", err)
	}
	before := upstream.DeepCopy()
	changed := bring(&upstream.Spec, want)
	if len(changed) == 0 {
		return synced(), nil
	}
	err := r.Client.Patch(ctx, &upstream, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
	switch {
	case apierrors.IsInvalid(err), apierrors.IsBadRequest(err), apierrors.IsForbidden(err):
		return refused("OpenShift refused %s: %v", strings.Join(changed, ", "), err), nil
	case err != nil:
		return outcome{}, fmt.Errorf("change OpenShift's ClusterVersion: %w", err)
	}
	if upstream.ResourceVersion != before.ResourceVersion {
		r.Recorder.Eventf(o, nil, corev1.EventTypeNormal, v1beta1.ReasonSynced, "Sync", "Changed %s of OpenShift's ClusterVersion", strings.Join(changed, ", "))
	}
	// What is in none of its feature sets, the API server drops without a word.
	if dropped := bring(upstream.Spec.DeepCopy(), want); len(dropped) > 0 {
		return refused("This OpenShift knows no %s in its ClusterVersion, or not all of it", strings.Join(dropped, ", ")), nil
	}
	return synced(), nil
}

func synced() outcome {
	return outcome{v1beta1.ReasonSynced, "OpenShift's ClusterVersion is as this one says"}
}
