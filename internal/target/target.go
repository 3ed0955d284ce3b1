// Package target is what UpgradeJobs upgrade: OpenShift's ClusterVersion, or, through a KubernetesUpgrade, every other cluster. The two
// look the same to what decides (package maintenance).
package target

import (
	"context"
	"fmt"
	"slices"

	configv1 "github.com/openshift/api/config/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"refit.dev/refit/api/managedupgrade/v1beta1"
	"refit.dev/refit/internal/gate"
	"refit.dev/refit/internal/maintenance"
	"refit.dev/refit/internal/snapshot"
)

// Target is one of the two.
type Target interface {
	// Observe says where the target stands for a job. What could not be seen is in its Problem.
	Observe(ctx context.Context, job *v1beta1.UpgradeJob) maintenance.Target
	// Available are the versions that can be installed now.
	Available(ctx context.Context) ([]configv1.Release, error)
	// Gates are the target's own health checks, at a stage of a job.
	Gates(ctx context.Context, job *v1beta1.UpgradeJob, stage maintenance.Stage) []gate.Verdict
	// Operators fills what is known of cluster operators.
	Operators(ctx context.Context, into *snapshot.Health)
	// Do carries an action out. Doing it again, or too late, does no harm: what is not the job's any more is left alone.
	Do(ctx context.Context, job *v1beta1.UpgradeJob, a maintenance.Action) error
}

// Set is the targets of a cluster.
type Set struct {
	OpenShift, Kubernetes Target
	// IsOpenShift says whether the cluster serves OpenShift's API, so that it is the default.
	IsOpenShift bool
	// HasPools says whether it serves machine config pools, which a hosted control plane does not.
	HasPools bool
}

// For is the target that a configuration asks for.
func (s *Set) For(kind v1beta1.TargetKind) Target {
	if kind == v1beta1.TargetOpenShift || kind == "" && s.IsOpenShift {
		return s.OpenShift
	}
	return s.Kubernetes
}

// JobEnded says whether the job that holds something has ended and given back what it took, or is gone.
func JobEnded(ctx context.Context, c client.Reader, name string) (bool, error) {
	key, err := parse(name)
	if err != nil {
		return true, nil // nobody of that name will ever give it back
	}
	var job v1beta1.UpgradeJob
	if err := c.Get(ctx, key, &job); err != nil {
		return client.IgnoreNotFound(err) == nil, client.IgnoreNotFound(err)
	}
	return job.Finished() && !slices.Contains(job.Finalizers, v1beta1.FinalizerJob), nil
}

func parse(name string) (client.ObjectKey, error) {
	for i := range name {
		if name[i] == '/' {
			return client.ObjectKey{Namespace: name[:i], Name: name[i+1:]}, nil
		}
	}
	return client.ObjectKey{}, fmt.Errorf("%q is not the name of a job", name)
}
