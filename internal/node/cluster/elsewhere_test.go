package cluster_test

import (
	"fmt"
	"strconv"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"
)

// paged has the fake list nodes page by page, as an API server does, and counts the pages.
func (w *world) paged(pages *int) {
	w.PrependReactor("list", "nodes", func(action clienttesting.Action) (bool, runtime.Object, error) {
		o := action.(clienttesting.ListActionImpl).ListOptions
		all, err := w.Tracker().List(corev1.SchemeGroupVersion.WithResource("nodes"), corev1.SchemeGroupVersion.WithKind("Node"), "")
		if err != nil {
			return true, nil, err
		}
		list := all.(*corev1.NodeList)
		from, _ := strconv.Atoi(o.Continue)
		to := from + int(o.Limit)
		*pages++
		if o.Limit == 0 || to >= len(list.Items) {
			return true, &corev1.NodeList{Items: list.Items[from:]}, nil
		}
		return true, &corev1.NodeList{ListMeta: metav1.ListMeta{Continue: strconv.Itoa(to)}, Items: list.Items[from:to]}, nil
	})
}

func TestADrainLooksAtNoMoreNodesThanItNeeds(t *testing.T) {
	ready := corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}}
	others := func() (nodes []runtime.Object) {
		for i := range 250 {
			labels := map[string]string{}
			if i == 240 {
				labels["disk"] = "ssd"
			}
			nodes = append(nodes, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("a-%03d", i), Labels: labels}, Status: ready})
		}
		return nodes
	}
	on := func(disk string) *corev1.Pod {
		return pod(disk, func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{"disk": disk} })
	}
	for what, tt := range map[string]struct {
		pods  []runtime.Object
		pages int
		says  string
	}{
		"the first ones take it":          {[]runtime.Object{pod("web")}, 1, "moved 1 pods away"},
		"one of the last ones takes it":   {[]runtime.Object{pod("web"), on("ssd")}, 3, "moved 2 pods away"},
		"none takes it, and all are seen": {[]runtime.Object{pod("web"), on("tape")}, 3, "moved 1 pods away; can run nowhere else: default/tape"},
		"nothing is to leave":             {nil, 1, "moved 0 pods away"},
	} {
		t.Run(what, func(t *testing.T) {
			g, pages := NewWithT(t), 0
			w := newWorld(append(others(), tt.pods...)...)
			w.paged(&pages)
			g.Expect(w.drain(t)).To(ContainSubstring(tt.says))
			g.Expect(pages).To(Equal(tt.pages))
		})
	}
}
