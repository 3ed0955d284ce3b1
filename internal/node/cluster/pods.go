package cluster

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	v1helper "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/klog/v2"

	"refit.dev/refit/api/v1alpha1"
)

// leaves says whether a pod has to leave a node that is drained.
func leaves(pod *corev1.Pod) bool {
	if pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
		return false
	}
	if _, mirror := pod.Annotations[corev1.MirrorPodAnnotationKey]; mirror {
		return false
	}
	if owner := metav1.GetControllerOf(pod); owner != nil && owner.Kind == "DaemonSet" {
		return false
	}
	return !upgrader(pod)
}

// upgrader says whether a pod is one of Refit's that upgrade a node.
func upgrader(pod *corev1.Pod) bool {
	_, labelled := pod.Labels[v1alpha1.LabelNode]
	return pod.Namespace == v1alpha1.Namespace && labelled
}

// toleratesCordon says whether the scheduler may put a pod on a node that is cordoned.
func toleratesCordon(pod *corev1.Pod) bool {
	cordon := []corev1.Taint{{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule}}
	_, untolerated := v1helper.FindMatchingUntoleratedTaint(klog.Background(), cordon, pod.Spec.Tolerations, repels, false)
	return !untolerated
}

func name(pod *corev1.Pod) string { return pod.Namespace + "/" + pod.Name }

// grace is what a pod is given to end: its own time, or the policy's where that is shorter. Nil leaves it to the pod.
func grace(pod *corev1.Pod, policy *int64) *int64 {
	if policy == nil || pod.Spec.TerminationGracePeriodSeconds == nil || *pod.Spec.TerminationGracePeriodSeconds <= *policy {
		return nil
	}
	return policy
}
