package observe

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/snapshot"
)

// LabelControlPlane is on every control plane that kubeadm made.
const LabelControlPlane = "node-role.kubernetes.io/control-plane"

// lifeCycleTaints come and go with the state of a node, which the snapshot says elsewhere.
const lifeCycleTaints = "node.kubernetes.io/"

// Node is what a Node object says. Its Components are for the caller to fill.
func Node(n *corev1.Node) snapshot.Node {
	_, controlPlane := n.Labels[LabelControlPlane]
	out := snapshot.Node{
		Name:           n.Name,
		UID:            string(n.UID),
		ControlPlane:   controlPlane,
		CreatedAt:      n.CreationTimestamp.Time,
		Labels:         n.Labels,
		Cordoned:       n.Spec.Unschedulable,
		Tainted:        slices.ContainsFunc(n.Spec.Taints, repels),
		KubeletVersion: n.Status.NodeInfo.KubeletVersion,
		RuntimeVersion: n.Status.NodeInfo.ContainerRuntimeVersion,
	}
	if out.Cordoned { // without a cordon the mark is a left-over: a person has uncordoned the node
		out.CordonedBy = n.Annotations[v1alpha1.AnnotationCordonedBy]
	}
	out.NotReadyReason = "the node has never reported"
	for _, c := range n.Status.Conditions {
		isTrue := c.Status == corev1.ConditionTrue
		switch c.Type {
		case corev1.NodeReady:
			out.Ready, out.ReadySince, out.NotReadyReason = isTrue, c.LastTransitionTime.Time, ""
			if !isTrue {
				out.NotReadyReason = c.Message
			}
		case corev1.NodeDiskPressure:
			out.DiskPressure = isTrue
		case corev1.NodeMemoryPressure:
			out.MemoryPressure = isTrue
		case corev1.NodePIDPressure:
			out.PIDPressure = isTrue
		}
	}
	return out
}

// repels says whether a taint keeps ordinary pods away for good.
func repels(t corev1.Taint) bool {
	return t.Effect != corev1.TaintEffectPreferNoSchedule && !strings.HasPrefix(t.Key, lifeCycleTaints)
}
