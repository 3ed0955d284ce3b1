package cli

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/node/spec"
)

// stepNames are the steps of a node's upgrade, in their order: those of a control plane, which has all of them.
func stepNames() []string {
	var names []string
	for _, step := range spec.Steps(v1alpha1.NodeTypeControlPlane) {
		names = append(names, string(step))
	}
	return names
}

func getOptions() metav1.GetOptions { return metav1.GetOptions{} }
