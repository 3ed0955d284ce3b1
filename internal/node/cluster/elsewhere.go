package cluster

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	v1helper "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/klog/v2"
)

// elsewherePage is how many nodes are looked at at once: mostly the first ones take whatever a node has, and thousands are a large answer.
const elsewherePage = 100

// elsewhere are nodes that the pods of this node could move to. A pod that no node takes stays where it is: evicting it would only
// take it away, and its budget would hold the drain up until its time is over.
type elsewhere struct {
	nodes []corev1.Node
	// more says that there are nodes that were not looked at.
	more bool
}

// elsewhere looks for other nodes that are in service, until they take every one of those pods or there are no more.
func (d Drain) elsewhere(ctx context.Context, pods []*corev1.Pod) (elsewhere, error) {
	var e elsewhere
	err := d.Retry(ctx, "listing the other nodes", patience, firstPause, again, func(ctx context.Context) error {
		e = elsewhere{}
		for page := ""; ; {
			next, err := d.lookAt(ctx, &e, page)
			if err != nil {
				return fmt.Errorf("list the nodes: %w", err)
			}
			e.more = next != ""
			if !e.more || !slices.ContainsFunc(pods, func(p *corev1.Pod) bool { return !e.fits(p) }) {
				return nil
			}
			page = next
		}
	})
	return e, err
}

// lookAt adds the nodes of a page, and returns the next page, empty where there is none.
func (d Drain) lookAt(ctx context.Context, e *elsewhere, page string) (next string, err error) {
	ctx, cancel := context.WithTimeout(ctx, requestDeadline)
	defer cancel()
	list, err := d.Client.CoreV1().Nodes().List(ctx, metav1.ListOptions{Limit: elsewherePage, Continue: page})
	if err != nil {
		return "", err
	}
	for i := range list.Items {
		if n := &list.Items[i]; n.Name != d.Spec.NodeName && !n.Spec.Unschedulable && ready(n) {
			e.nodes = append(e.nodes, *n)
		}
	}
	return list.Continue, nil
}

// takes says whether a node may run the pod. One that came since may be taken by a node that was not looked at.
func (e elsewhere) takes(pod *corev1.Pod) bool { return e.more || e.fits(pod) }

// fits says whether any of the nodes may run the pod, by its node selector, its node affinity and its tolerations.
func (e elsewhere) fits(pod *corev1.Pod) bool {
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
