package cluster

import (
	"k8s.io/client-go/kubernetes"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/node/execute"
	"refit.dev/refit/internal/node/task"
	"refit.dev/refit/internal/sequence"
)

// Step makes a step that runs in the container with the Pod's service account; nil where the step has no such part.
func Step(name v1alpha1.StepName, client kubernetes.Interface) execute.Make {
	switch name {
	case v1alpha1.StepDrain:
		return func(t *task.Task) sequence.Step { return Drain{Task: t, Client: client} }
	case v1alpha1.StepUncordon:
		return func(t *task.Task) sequence.Step { return Uncordon{Task: t, Client: client} }
	case v1alpha1.StepVerify:
		return func(t *task.Task) sequence.Step { return Verify{Task: t, Client: client} }
	}
	return nil
}
