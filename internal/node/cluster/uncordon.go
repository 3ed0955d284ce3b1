package cluster

import (
	"context"
	"time"

	"k8s.io/client-go/kubernetes"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/node/task"
)

// Uncordon lifts the cordon that this upgrade set.
type Uncordon struct {
	*task.Task
	Client kubernetes.Interface
}

// Name is the step's.
func (Uncordon) Name() string { return string(v1alpha1.StepUncordon) }

// Deadline bounds the step.
func (u Uncordon) Deadline() time.Duration { return u.Spec.Deadline(v1alpha1.StepUncordon) }

func (u Uncordon) node() node { return node{client: u.Client, host: u.Host, spec: u.Spec} }

// Done says whether there is no cordon of this upgrade.
func (u Uncordon) Done(ctx context.Context) (bool, string, error) {
	found, err := u.node().get(ctx)
	switch {
	case err != nil:
		return false, "", err
	case u.node().ours(found):
		return false, "cordoned by this upgrade", nil
	case found.Spec.Unschedulable:
		return true, "the node stays cordoned: this upgrade did not do it", nil
	default:
		return true, "the node takes pods", nil
	}
}

// Run lifts it.
func (u Uncordon) Run(ctx context.Context) (string, error) { return u.node().uncordon(ctx) }
