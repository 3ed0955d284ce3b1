package cordonmark

import (
	"context"
	"os"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/testcluster"
)

func TestMain(m *testing.M) { os.Exit(testcluster.Main(m)) }

func TestAMarkWithoutACordonIsRemoved(t *testing.T) {
	c := testcluster.Start(t).Client
	mark := map[string]string{v1alpha1.AnnotationCordonedBy: "a-node-upgrade", "other": "stays"}
	for _, tt := range []struct {
		name        string
		cordoned    bool
		annotations map[string]string
		// meanwhile is what somebody does between the look and the write.
		meanwhile func(*corev1.Node)
		marked    bool
	}{
		{name: "a person uncordoned the node", annotations: mark},
		{name: "the cordon is there", cordoned: true, annotations: mark, marked: true},
		{name: "the node has no mark", annotations: map[string]string{"other": "stays"}},
		{name: "an upgrade cordons the node at this very moment", annotations: mark, marked: true,
			meanwhile: func(n *corev1.Node) { n.Spec.Unschedulable = true }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g, ctx := NewWithT(t), t.Context()
			n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "worker-0", Annotations: tt.annotations}, Spec: corev1.NodeSpec{Unschedulable: tt.cordoned}}
			g.Expect(c.Create(ctx, n)).To(Succeed())
			t.Cleanup(func() { g.Expect(c.Delete(context.Background(), n)).To(Succeed()) })
			racing := interceptor.NewClient(c, interceptor.Funcs{Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
				if tt.meanwhile != nil {
					changed := n.DeepCopy()
					tt.meanwhile(changed)
					g.Expect(c.Update(ctx, changed)).To(Succeed())
				}
				return c.Patch(ctx, o, p, opts...)
			}})
			_, err := (&Reconciler{Client: racing}).Reconcile(ctx, ctrl.Request{NamespacedName: client.ObjectKeyFromObject(n)})
			g.Expect(err).NotTo(HaveOccurred())
			var now corev1.Node
			g.Expect(c.Get(ctx, client.ObjectKeyFromObject(n), &now)).To(Succeed())
			_, marked := now.Annotations[v1alpha1.AnnotationCordonedBy]
			g.Expect(marked).To(Equal(tt.marked))
			g.Expect(now.Annotations).To(HaveKeyWithValue("other", "stays"))
		})
	}
}
