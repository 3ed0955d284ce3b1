package nodeupgrade

import (
	"github.com/klauspost/compress/s2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"refit.dev/refit/api/v1alpha1"
)

// podPacked marks the condition whose message holds what the containers of a Pod came to, packed.
const podPacked corev1.PodConditionType = "refit.dev/Packed"

// CompactPod packs what the containers of a Pod that has succeeded came to: thousands of such Pods are kept in caches, and hardly
// any is looked at again. The Pod is changed, and must never be written back.
func CompactPod(pod *corev1.Pod) {
	if pod.Status.Phase != corev1.PodSucceeded || packed(pod) {
		return
	}
	all := corev1.PodStatus{InitContainerStatuses: pod.Status.InitContainerStatuses, ContainerStatuses: pod.Status.ContainerStatuses}
	encoded, err := all.Marshal()
	if err != nil { // then it stays as it is
		return
	}
	pod.Status = corev1.PodStatus{Phase: pod.Status.Phase,
		Conditions: []corev1.PodCondition{{Type: podPacked, Message: string(s2.Encode(nil, encoded))}}}
}

// containers are the containers of a Pod in the order in which they run.
func containers(pod *corev1.Pod) []corev1.ContainerStatus {
	s := &pod.Status
	if packed(pod) {
		s = unpack(s.Conditions[0].Message)
	}
	all := make([]corev1.ContainerStatus, 0, len(s.InitContainerStatuses)+len(s.ContainerStatuses))
	return append(append(all, s.InitContainerStatuses...), s.ContainerStatuses...)
}

func packed(pod *corev1.Pod) bool {
	return len(pod.Status.Conditions) == 1 && pod.Status.Conditions[0].Type == podPacked
}

// unpack undoes what CompactPod did. It cannot fail: nobody else packs, and nothing packed leaves the process.
func unpack(message string) *corev1.PodStatus {
	var s corev1.PodStatus
	encoded, err := s2.Decode(nil, []byte(message))
	if err != nil || s.Unmarshal(encoded) != nil {
		return &corev1.PodStatus{}
	}
	return &s
}

// CompactClaim drops what only people read of a NodeUpgrade that is completed: the times and messages of its steps, and the conditions
// that say the same. Reconcile reads it whole before it writes such a status.
func CompactClaim(nu *v1alpha1.NodeUpgrade) {
	if !nu.Status.Completed {
		return
	}
	steps := make([]v1alpha1.StepStatus, 0, len(nu.Status.Steps))
	for _, s := range nu.Status.Steps {
		steps = append(steps, v1alpha1.StepStatus{Name: s.Name, State: s.State, Attempt: s.Attempt})
	}
	nu.Status.Steps = steps
	if ready := meta.FindStatusCondition(nu.Status.Conditions, v1alpha1.ConditionReady); ready != nil {
		nu.Status.Conditions = []metav1.Condition{*ready}
	}
}
