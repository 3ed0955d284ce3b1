package execute

import (
	"fmt"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/node/agent"
	"refit.dev/refit/internal/node/cleanup"
	"refit.dev/refit/internal/node/controlplane"
	"refit.dev/refit/internal/node/etcd"
	"refit.dev/refit/internal/node/images"
	"refit.dev/refit/internal/node/preflight"
	"refit.dev/refit/internal/node/programs"
	"refit.dev/refit/internal/node/task"
	"refit.dev/refit/internal/node/verify"
	"refit.dev/refit/internal/sequence"
)

// HostStep makes a step that runs on the host.
func HostStep(name v1alpha1.StepName) (Make, error) {
	switch name {
	case v1alpha1.StepPreflight:
		return func(t *task.Task) sequence.Step { return preflight.New(t) }, nil
	case v1alpha1.StepPullImages:
		return func(t *task.Task) sequence.Step { return images.Pull{Task: t} }, nil
	case v1alpha1.StepBackupEtcd:
		return func(t *task.Task) sequence.Step { return etcd.Backup{Task: t} }, nil
	case v1alpha1.StepContainerd:
		return func(t *task.Task) sequence.Step { return programs.Containerd{Task: t} }, nil
	case v1alpha1.StepCNIPlugins:
		return func(t *task.Task) sequence.Step { return programs.CNI{Task: t} }, nil
	case v1alpha1.StepKubeadm:
		return func(t *task.Task) sequence.Step { return controlplane.NewKubeadm(t) }, nil
	case v1alpha1.StepKubelet:
		return func(t *task.Task) sequence.Step { return agent.Kubelet{Task: t} }, nil
	case v1alpha1.StepVerify:
		return func(t *task.Task) sequence.Step { return verify.Host{Task: t} }, nil
	case v1alpha1.StepCleanup:
		return func(t *task.Task) sequence.Step { return cleanup.Cleanup{Task: t} }, nil
	}
	return nil, fmt.Errorf("%q is not a step that runs on the host", name)
}

// ChangesHost says whether a step changes what the host runs, so that it must be finished even after a power cut and without
// the Pod that began it.
func ChangesHost(name v1alpha1.StepName) bool {
	switch name {
	case v1alpha1.StepContainerd, v1alpha1.StepCNIPlugins, v1alpha1.StepKubeadm, v1alpha1.StepKubelet:
		return true
	}
	return false
}
