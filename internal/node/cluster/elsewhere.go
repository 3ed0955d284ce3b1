package cluster

import (
	"context"
	"fmt"
	"sort"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	v1helper "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/klog/v2"
)

// elsewhere are the nodes that a pod of this node could move to. A pod that none of them takes stays where it is: evicting it
// would only take it away, and its budget would hold the drain up until its time is over.
type elsewhere struct {
	nodes []corev1.Node
}

// elsewhere lists the other nodes that are in service.
func (d Drain) elsewhere(ctx context.Context) (elsewhere, error) {
	var e elsewhere
	err := d.Retry(ctx, "listing the other nodes", patience, firstPause, again, func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, requestDeadline)
		defer cancel()
		list, err := d.Client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
		if err != nil {
			return fmt.Errorf("list the nodes: %w", err)
		}
		e.nodes = nil
		for _, n := range list.Items {
			if n.Name != d.Spec.NodeName && !n.Spec.Unschedulable && ready(&n) {
				e.nodes = append(e.nodes, n)
			}
		}
		return nil
	})
	return e, err
}

// takes says whether any of the nodes may run the pod, by its node selector, its node affinity and its tolerations.
func (e elsewhere) takes(pod *corev1.Pod) bool {
	wanted := nodeaffinity.GetRequiredNodeAffinity(pod)
	for i := range e.nodes {
		n := &e.nodes[i]
		matches, err := wanted.Match(n)
		if err != nil || !matches {
			continue
		}
		_, untolerated := v1helper.FindMatchingUntoleratedTaint(klog.Background(), n.Spec.Taints, pod.Spec.Tolerations, repels, false)
		if !untolerated {
			return true
		}
	}
	return false
}

func repels(t *corev1.Taint) bool {
	return t.Effect == corev1.TaintEffectNoSchedule || t.Effect == corev1.TaintEffectNoExecute
}

func ready(n *corev1.Node) bool {
	for _, c := range n.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

// split separates the pods that have to leave from those that can run nowhere else.
func (e elsewhere) split(pods []*corev1.Pod) (leave, stay []*corev1.Pod) {
	for _, p := range pods {
		if p.DeletionTimestamp != nil || e.takes(p) {
			leave = append(leave, p)
		} else {
			stay = append(stay, p)
		}
	}
	return leave, stay
}

// named lists pods for a message; empty for none.
func named(prefix string, pods []*corev1.Pod) string {
	if len(pods) == 0 {
		return ""
	}
	var names []string
	for _, p := range pods {
		names = append(names, name(p))
	}
	sort.Strings(names)
	if len(names) > mostNamed {
		names = append(names[:mostNamed], fmt.Sprintf("and %d more", len(names)-mostNamed))
	}
	return prefix + strings.Join(names, ", ")
}
