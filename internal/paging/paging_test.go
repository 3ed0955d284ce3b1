package paging

import (
	"context"
	"fmt"
	"os"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"refit.dev/refit/internal/testcluster"
)

func TestMain(m *testing.M) { os.Exit(testcluster.Main(m)) }

// pages counts the answers of an API server, and says of the pages after the first that they are too old, so many times.
func pages(c client.WithWatch, sizes *[]int, expired int) client.WithWatch {
	return interceptor.NewClient(c, interceptor.Funcs{List: func(ctx context.Context, c client.WithWatch, l client.ObjectList, opts ...client.ListOption) error {
		var o client.ListOptions
		o.ApplyOptions(opts)
		if o.Continue != "" && expired > 0 {
			expired--
			return apierrors.NewResourceExpired("the pages are too old")
		}
		err := c.List(ctx, l, opts...)
		n := 0
		switch l := l.(type) {
		case *corev1.ConfigMapList:
			n = len(l.Items)
		case *unstructured.UnstructuredList:
			n = len(l.Items)
		}
		*sizes = append(*sizes, n)
		return err
	}})
}

func TestEveryPageIsListed(t *testing.T) {
	const all = 1203
	g, c, ns := NewWithT(t), testcluster.Start(t).Client, client.InNamespace("default")
	for i := range all {
		g.Expect(c.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprintf("c-%04d", i), Labels: map[string]string{"odd": fmt.Sprint(i % 2)}}})).To(Succeed())
	}
	var sizes []int
	var list corev1.ConfigMapList
	g.Expect(Reader{pages(c, &sizes, 0)}.List(t.Context(), &list, ns, client.MatchingLabels{"odd": "1"})).To(Succeed())
	g.Expect(sizes).To(Equal([]int{500, 101}), "the selector is kept from page to page")
	g.Expect(list.Items).To(HaveLen(601))
	g.Expect(list.Items[0].Name).To(Equal("c-0001"))
	g.Expect(list.Items[600].Name).To(Equal("c-1201"))
	g.Expect(list.ResourceVersion).NotTo(BeEmpty())
	g.Expect(list.Continue).To(BeEmpty())

	sizes = nil
	untyped := unstructured.UnstructuredList{}
	untyped.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMapList"))
	g.Expect(Client{pages(c, &sizes, 0)}.List(t.Context(), &untyped, ns, client.MatchingLabels{"odd": "0"})).To(Succeed())
	g.Expect(sizes).To(Equal([]int{500, 102}))
	g.Expect(untyped.Items).To(HaveLen(602))

	sizes = nil
	g.Expect(Reader{pages(c, &sizes, 1)}.List(t.Context(), &list, ns, client.MatchingLabels{"odd": "1"})).To(Succeed())
	g.Expect(sizes).To(Equal([]int{500, 601}), "in one answer where the pages are too old")
	g.Expect(list.Items).To(HaveLen(601))

	sizes = nil
	g.Expect(Reader{pages(c, &sizes, 0)}.List(t.Context(), &list, ns, client.Limit(7))).To(Succeed())
	g.Expect(sizes).To(Equal([]int{7}), "who asks for so many gets so many")
	g.Expect(list.Continue).NotTo(BeEmpty())

	g.Expect(Reader{c}.List(t.Context(), &list, client.InNamespace("nowhere"))).To(Succeed())
	g.Expect(list.Items).To(BeEmpty())
}
