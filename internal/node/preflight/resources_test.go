package preflight

import (
	"testing"

	. "github.com/onsi/gomega"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/node/fakehost"
)

// Room for images is asked for where step pull-images would pull any, and a worker pulls only some of the bundle's.
func TestRoomForImagesIsForThoseThatAreGoingToBePulled(t *testing.T) {
	g, h := NewWithT(t), fakehost.New(t)
	s := h.Spec()
	s.NodeType = v1alpha1.NodeTypeWorker
	worker := New(h.Task(s))
	g.Expect(worker.imagesMissing(t.Context())).To(BeTrue())
	for _, image := range []string{"kube-proxy:" + fakehost.To, "pause:3.10.2", "coredns/coredns:v1.14.2"} {
		_, err := h.Runtime.PullImage(t.Context(), &runtime.PullImageRequest{Image: &runtime.ImageSpec{Image: "registry.k8s.io/" + image}})
		g.Expect(err).NotTo(HaveOccurred())
	}
	g.Expect(worker.imagesMissing(t.Context())).To(BeFalse())
	g.Expect(New(h.Task(h.Spec())).imagesMissing(t.Context())).To(BeTrue())
}
