// Package kubernetes lets UpgradeJobs upgrade every cluster but OpenShift's, by a KubernetesUpgrade. One that a job could not finish is
// paused; the job of the next window goes on with it.
package kubernetes

import (
	"context"
	"fmt"
	"slices"

	configv1 "github.com/openshift/api/config/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"refit.dev/refit/api/managedupgrade/v1beta1"
	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/maintenance"
	"refit.dev/refit/internal/observe"
	"refit.dev/refit/internal/snapshot"
	"refit.dev/refit/internal/target"
)

// lease is the lock: a Lease in Refit's namespace, whose holder is the job.
var lease = client.ObjectKey{Namespace: v1alpha1.Namespace, Name: "refit-maintenance"}

// Observer looks at the whole cluster.
type Observer interface {
	Cluster(ctx context.Context, f observe.Freshness) (*snapshot.Cluster, error)
}

// Target is a cluster that Refit upgrades itself.
type Target struct {
	// Live reads from the API server: the lock and the one unfinished upgrade rest on it.
	Live client.Reader
	// Client writes, and reads UpgradeJobs and KubernetesVersions.
	Client   client.Client
	Observer Observer
	Clock    clock.PassiveClock
}

var _ target.Target = &Target{}

// Observe says where the cluster stands for a job.
func (t *Target) Observe(ctx context.Context, job *v1beta1.UpgradeJob) maintenance.Target {
	seen, err := t.observe(ctx, job)
	if err != nil {
		seen.Problem = fmt.Sprintf("the cluster could not be seen: %v", err)
	}
	return seen
}

func (t *Target) observe(ctx context.Context, job *v1beta1.UpgradeJob) (maintenance.Target, error) {
	seen := maintenance.Target{Kind: v1beta1.TargetKubernetesUpgrade}
	var l coordinationv1.Lease
	if err := client.IgnoreNotFound(t.Live.Get(ctx, lease, &l)); err != nil {
		return seen, fmt.Errorf("read Lease %s: %w", lease, err)
	}
	me := maintenance.Name(job)
	var err error
	if seen.HeldBy = ptr.Deref(l.Spec.HolderIdentity, ""); seen.HeldBy != "" && seen.HeldBy != me {
		if seen.HolderEnded, err = target.JobEnded(ctx, t.Live, seen.HeldBy); err != nil {
			return seen, fmt.Errorf("read UpgradeJob %s: %w", seen.HeldBy, err)
		}
	}
	versions, upgrades, err := t.read(ctx)
	if err != nil {
		return seen, err
	}
	seen.Available = available(versions, upgrades)
	t.standing(&seen, job, versions, upgrades)
	return seen, nil
}

// standing says where the job's own upgrade stands, and what is in its way.
func (t *Target) standing(seen *maintenance.Target, job *v1beta1.UpgradeJob, versions []v1alpha1.KubernetesVersion, upgrades []v1alpha1.KubernetesUpgrade) {
	to := job.Version()
	if own := ownOf(upgrades, job); own != nil {
		seen.Requested = true
		seen.Completed = own.Status.State == v1alpha1.StateUpgradeComplete
		seen.Failed = failure(own)
		seen.Driven = !own.Finished() && !own.Spec.Paused && !stopped(own) && own.DeletionTimestamp == nil
		seen.Progress = progress(own)
		return
	}
	if to == "" {
		return
	}
	if u := unfinished(upgrades); u != nil {
		if !(adoptable(u) && u.Spec.ToVersion == to) {
			seen.Busy = busy(u)
		}
		return
	}
	if name := job.Annotations[annotationUpgrade]; name != "" {
		seen.Requested, seen.Failed = true, fmt.Sprintf("KubernetesUpgrade %s is there no more: somebody has deleted it", name)
		return
	}
	seen.Completed = slices.ContainsFunc(versions, func(v v1alpha1.KubernetesVersion) bool {
		return v.Spec.Version == to && v.Status.State == v1alpha1.VersionActive
	})
}

func (t *Target) read(ctx context.Context) ([]v1alpha1.KubernetesVersion, []v1alpha1.KubernetesUpgrade, error) {
	var versions v1alpha1.KubernetesVersionList
	if err := t.Client.List(ctx, &versions); err != nil {
		return nil, nil, fmt.Errorf("list KubernetesVersions: %w", err)
	}
	var upgrades v1alpha1.KubernetesUpgradeList
	if err := t.Live.List(ctx, &upgrades); err != nil {
		return nil, nil, fmt.Errorf("list KubernetesUpgrades: %w", err)
	}
	return versions.Items, upgrades.Items, nil
}

// Available are the KubernetesVersions that the cluster can be upgraded to. As long as an upgrade that a job began is not finished, that is
// its version alone.
func (t *Target) Available(ctx context.Context) ([]configv1.Release, error) {
	versions, upgrades, err := t.read(ctx)
	if err != nil {
		return nil, err
	}
	return available(versions, upgrades), nil
}

func available(versions []v1alpha1.KubernetesVersion, upgrades []v1alpha1.KubernetesUpgrade) []configv1.Release {
	begun := unfinished(upgrades)
	if begun != nil && !adoptable(begun) {
		begun = nil
	}
	var out []configv1.Release
	for i := range versions {
		v := &versions[i]
		offered := v.Status.State == v1alpha1.VersionAvailable
		if begun != nil {
			offered = v.Spec.Version == begun.Spec.ToVersion
		}
		if offered {
			out = append(out, configv1.Release{Version: v.Spec.Version, Image: v.Spec.Image})
		}
	}
	return out
}
