package cli

import (
	"fmt"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"refit.dev/refit/api/v1alpha1"
)

func claim(node string, phase v1alpha1.NodeUpgradePhase, message string) v1alpha1.NodeUpgrade {
	n := v1alpha1.NodeUpgrade{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{v1alpha1.LabelUpgrade: "up"}}}
	n.Spec.Machine.Name, n.Status.Phase = node, phase
	if message != "" {
		n.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionReady, Message: message}}
	}
	return n
}

func TestStatusNamesTheNodesAtWorkAndWhatHoldsThemUp(t *testing.T) {
	g := NewWithT(t)
	all := claims{claim("cp-1", v1alpha1.NodeCompleted, "node cp-1 runs v1.36.3"),
		claim("worker-1", v1alpha1.NodeStaging, "image b cannot be pulled: no route to host"), claim("worker-2", v1alpha1.NodeUpgrading, "")}
	g.Expect(all.atWork(5)).To(Equal([]string{"worker-1 is Staging: image b cannot be pulled: no route to host", "worker-2 is Upgrading"}))
	for i := range 6 {
		all = append(all, claim(fmt.Sprintf("worker-1%d", i), v1alpha1.NodeStaging, ""))
	}
	lines := all.atWork(5)
	g.Expect(lines).To(HaveLen(6))
	g.Expect(lines[5]).To(Equal("and 3 more: see `refit nodes`"))
}

func TestFailedNodesAreThoseOfTheUpgrade(t *testing.T) {
	g := NewWithT(t)
	other := claim("worker-9", v1alpha1.NodeFailed, "")
	other.Labels[v1alpha1.LabelUpgrade] = "another"
	all := []v1alpha1.NodeUpgrade{claim("worker-1", v1alpha1.NodeFailed, ""), claim("worker-2", v1alpha1.NodeStaged, ""), other}
	nodes := []corev1.Node{{ObjectMeta: metav1.ObjectMeta{Name: "worker-1"}}}
	g.Expect(claimsAmong(all, "up").failures(&v1alpha1.KubernetesUpgrade{}, among(nodes))).To(Equal([]failure{{node: "worker-1"}}))
}
