package observe

import (
	"strings"

	corev1 "k8s.io/api/core/v1"

	"refit.dev/refit/internal/snapshot"
)

const (
	systemNamespace = "kube-system"
	// LabelComponent is on every static Pod that kubeadm made.
	LabelComponent = "component"
	// LabelTier is on every static Pod that kubeadm made, with the value TierControlPlane.
	LabelTier        = "tier"
	TierControlPlane = "control-plane"
)

// fillComponents puts what the static Pods say into the control planes.
func fillComponents(nodes []snapshot.Node, pods []corev1.Pod) {
	byNode := map[string]*snapshot.Components{}
	for i := range pods {
		p := &pods[i]
		c := byNode[p.Spec.NodeName]
		if c == nil {
			c = &snapshot.Components{}
			byNode[p.Spec.NodeName] = c
		}
		switch p.Labels[LabelComponent] {
		case "kube-apiserver":
			c.APIServer = component(p)
		case "kube-controller-manager":
			c.ControllerManager = component(p)
		case "kube-scheduler":
			c.Scheduler = component(p)
		case "etcd":
			c.Etcd = component(p)
		}
	}
	for i := range nodes {
		if nodes[i].ControlPlane {
			nodes[i].Components = byNode[nodes[i].Name]
		}
	}
}

func component(p *corev1.Pod) snapshot.Component {
	c := snapshot.Component{Found: true, Version: imageTag(p)}
	for _, cond := range p.Status.Conditions {
		if cond.Type == corev1.PodReady {
			c.Ready = cond.Status == corev1.ConditionTrue
			c.Message = cond.Message
		}
	}
	if c.Ready {
		c.Message = ""
		return c
	}
	for _, s := range p.Status.ContainerStatuses {
		switch {
		case s.State.Waiting != nil && s.State.Waiting.Reason != "":
			c.Message = strings.TrimSuffix(s.State.Waiting.Reason+": "+s.State.Waiting.Message, ": ")
		case s.State.Terminated != nil:
			c.Message = strings.TrimSuffix(s.State.Terminated.Reason+": "+s.State.Terminated.Message, ": ")
		}
	}
	return c
}

// imageTag is the tag of the Pod's first image, empty where it has none. The spec says what is wanted to run; with a static Pod
// that is what the kubelet runs or is about to.
func imageTag(p *corev1.Pod) string {
	if len(p.Spec.Containers) == 0 {
		return ""
	}
	image, _, _ := strings.Cut(p.Spec.Containers[0].Image, "@")
	i := strings.LastIndex(image, ":")
	if i < 0 || strings.Contains(image[i:], "/") {
		return ""
	}
	return image[i+1:]
}
