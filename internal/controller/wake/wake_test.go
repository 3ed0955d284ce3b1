package wake

import (
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"refit.dev/refit/api/v1alpha1"
)

func TestWhichChangesOfANodeMatter(t *testing.T) {
	for _, tt := range []struct {
		name    string
		change  func(*corev1.Node)
		matters bool
	}{
		{"a heartbeat", func(n *corev1.Node) { n.Status.Conditions[0].LastHeartbeatTime = metav1.Now() }, false},
		{"a label", func(n *corev1.Node) { n.Labels = map[string]string{"a": "b"} }, false},
		{"not being Ready any more", func(n *corev1.Node) { n.Status.Conditions[0].Status = corev1.ConditionUnknown }, true},
		{"a cordon", func(n *corev1.Node) { n.Spec.Unschedulable = true }, true},
		{"the mark of a cordon", func(n *corev1.Node) { n.Annotations = map[string]string{v1alpha1.AnnotationCordonedBy: "u"} }, true},
		{"another kubelet", func(n *corev1.Node) { n.Status.NodeInfo.KubeletVersion = "v1.36.3" }, true},
		{"another node of the same name", func(n *corev1.Node) { n.UID = "other" }, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before := &corev1.Node{Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}}}
			after := before.DeepCopy()
			tt.change(after)
			NewWithT(t).Expect(OnNode().Update(event.UpdateEvent{ObjectOld: before, ObjectNew: after})).To(Equal(tt.matters))
		})
	}
}
