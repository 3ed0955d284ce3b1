package cli

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"refit.dev/refit/api/v1alpha1"
)

// stepNames are the steps of a node's upgrade, in their order.
var stepNames = []string{
	string(v1alpha1.StepPreflight), string(v1alpha1.StepCopyBinaries), string(v1alpha1.StepPullImages), string(v1alpha1.StepBackupEtcd),
	string(v1alpha1.StepContainerd), string(v1alpha1.StepCNIPlugins), string(v1alpha1.StepKubeadm), string(v1alpha1.StepDrain),
	string(v1alpha1.StepKubelet), string(v1alpha1.StepVerify), string(v1alpha1.StepUncordon), string(v1alpha1.StepCleanup),
}

func getOptions() metav1.GetOptions { return metav1.GetOptions{} }
