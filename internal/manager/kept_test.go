package manager

import (
	"context"
	"fmt"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/testcluster"
)

func TestALookIsAtWhatTheCacheHasItself(t *testing.T) {
	g := NewWithT(t)
	cluster := testcluster.Start(t)
	c := cluster.Client
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: v1alpha1.Namespace}}
	g.Expect(client.IgnoreAlreadyExists(c.Create(ctx, ns))).To(Succeed())
	var objects []client.Object
	for i := range 3 {
		name := fmt.Sprintf("kept-%d", i)
		objects = append(objects, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{"site.test/large": "x"}}},
			&v1alpha1.NodeUpgrade{ObjectMeta: metav1.ObjectMeta{Namespace: v1alpha1.Namespace, Name: name}, Spec: v1alpha1.NodeUpgradeSpec{
				Machine: corev1.ObjectReference{Name: name}, KubernetesVersion: to, NodeType: v1alpha1.NodeTypeWorker, Hold: true}})
	}
	for _, o := range objects {
		g.Expect(c.Create(ctx, o)).To(Succeed())
		t.Cleanup(func() { _ = c.Delete(context.Background(), o) })
	}
	mgr, k, err := build(cluster.Config, Options{Namespace: v1alpha1.Namespace, Metrics: "0", Probes: "0"})
	g.Expect(err).NotTo(HaveOccurred())
	go func() { _ = mgr.GetCache().Start(ctx) }()
	g.Expect(mgr.GetCache().WaitForCacheSync(ctx)).To(BeTrue())

	nodes, err := k.Nodes(ctx) // the first look waits for the informer to have everything
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(nodes).To(HaveLen(3))
	g.Expect(nodes[0].Annotations).To(BeEmpty(), "what nobody looks at is dropped, as of all that is kept")
	again, err := k.Nodes(ctx)
	g.Expect(err).NotTo(HaveOccurred())
	for _, n := range nodes {
		g.Expect(again).To(ContainElement(BeIdenticalTo(n)))
	}
	again[0] = nil
	g.Expect(k.Nodes(ctx)).NotTo(ContainElement(BeNil()), "the list itself is the caller's")

	claims, err := k.NodeUpgrades(ctx)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(claims).To(HaveLen(3))
	g.Expect(c.Delete(ctx, objects[1])).To(Succeed())
	g.Eventually(k.NodeUpgrades).WithContext(ctx).WithTimeout(10 * time.Second).Should(HaveLen(2))
}
