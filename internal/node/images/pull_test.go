package images_test

import (
	"testing"

	. "github.com/onsi/gomega"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/node/fakehost"
	"refit.dev/refit/internal/node/images"
	"refit.dev/refit/internal/node/spec"
)

func TestPull(t *testing.T) {
	run := func(t *testing.T, h *fakehost.Host, s spec.Spec) (string, error) {
		task := h.Task(s)
		return task.Runner("").Run(t.Context(), images.Pull{Task: task})
	}
	const apiServer, proxy = "registry.k8s.io/kube-apiserver:v1.36.3", "registry.k8s.io/kube-proxy:v1.36.3"

	t.Run("pulls every image on a control plane, once", func(t *testing.T) {
		g, h := NewWithT(t), fakehost.New(t)
		g.Expect(run(t, h, h.Spec())).To(Equal("pulled 7 images of v1.36.3, 0 were there"))
		g.Expect(h.Runtime.Has(apiServer)).To(BeTrue())
		g.Expect(run(t, h, h.Spec())).To(ContainSubstring("has the 7 images"))
	})

	t.Run("pulls on a worker only what a worker runs", func(t *testing.T) {
		g, h := NewWithT(t), fakehost.New(t)
		s := h.Spec()
		s.NodeType = v1alpha1.NodeTypeWorker
		g.Expect(run(t, h, s)).To(ContainSubstring("pulled 3 images"))
		g.Expect(h.Runtime.Has(proxy)).To(BeTrue())
		g.Expect(h.Runtime.Has(apiServer)).To(BeFalse())
	})

	t.Run("tries again, then names the image and what to do, and may be tried later", func(t *testing.T) {
		g, h := NewWithT(t), fakehost.New(t)
		h.Runtime.Broken[proxy] = true
		_, err := run(t, h, h.Spec())
		g.Expect(err).To(MatchError(And(ContainSubstring(proxy), ContainSubstring("no such host"), ContainSubstring("crictl pull"))))
		g.Expect(spec.CodeOf(err)).To(Equal(spec.ExitFailed))
		g.Expect(h.Log.String()).To(ContainSubstring("attempt 3 of 4"))
	})
}
