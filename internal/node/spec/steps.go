package spec

import (
	"time"

	"refit.dev/refit/api/v1alpha1"
)

// ReportContainer is the name of the main container of an upgrader Pod. It prints the journal and ends.
const ReportContainer = "post-upgrade-status"

// Steps are the steps of a node of the role, in their order. The drain comes before kubeadm: a node whose pods do not leave in time
// stays at the old version altogether, and a control plane's kubelet is replaced in the same window as its static pods, so
// that these restart once (docs/adr/0002).
func Steps(role v1alpha1.NodeType) []v1alpha1.StepName {
	steps := []v1alpha1.StepName{v1alpha1.StepPreflight, v1alpha1.StepCopyBinaries, v1alpha1.StepPullImages}
	if role == v1alpha1.NodeTypeControlPlane {
		steps = append(steps, v1alpha1.StepBackupEtcd)
	}
	return append(steps, v1alpha1.StepContainerd, v1alpha1.StepCNIPlugins, v1alpha1.StepDrain, v1alpha1.StepKubeadm,
		v1alpha1.StepKubelet, v1alpha1.StepVerify, v1alpha1.StepUncordon, v1alpha1.StepCleanup)
}

// StagingSteps are the steps that may run ahead: the node stays in service and unchanged.
func StagingSteps() []v1alpha1.StepName {
	return []v1alpha1.StepName{v1alpha1.StepPreflight, v1alpha1.StepCopyBinaries, v1alpha1.StepPullImages}
}

// Patience is for how long a step is held while the API server is away, before that counts as an interruption.
const Patience = 5 * time.Minute

// Deadline bounds one run of a step, retries inside it included. A drain's is that of its policy, and a little for its end.
func (s *Spec) Deadline(step v1alpha1.StepName) time.Duration {
	switch step {
	case v1alpha1.StepPreflight, v1alpha1.StepUncordon:
		return 2 * time.Minute
	case v1alpha1.StepCopyBinaries, v1alpha1.StepCNIPlugins, v1alpha1.StepCleanup:
		return 5 * time.Minute
	case v1alpha1.StepPullImages, v1alpha1.StepKubeadm:
		return 20 * time.Minute
	case v1alpha1.StepDrain:
		timeout := time.Duration(s.Drain.Timeout)
		if timeout <= 0 {
			timeout = DefaultDrainTimeout
		}
		return timeout + 2*time.Minute
	default:
		return 10 * time.Minute
	}
}
