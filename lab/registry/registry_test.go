package registry

import (
	"testing"

	. "github.com/onsi/gomega"

	"refit.dev/refit/lab/parts"
)

func TestTheImagesAreThoseThatKubeadmLists(t *testing.T) {
	g := NewWithT(t)
	t.Setenv("REFIT_CACHE", t.TempDir())
	store, err := parts.OpenStore()
	g.Expect(err).NotTo(HaveOccurred())
	release, err := parts.ReleaseOf("v1.36.3")
	g.Expect(err).NotTo(HaveOccurred())
	var names []string
	for _, i := range Images(store, release) {
		names = append(names, i.Name)
	}
	// What `kubeadm config images list --kubernetes-version v1.36.3` prints.
	g.Expect(names).To(ConsistOf("registry.k8s.io/kube-apiserver:v1.36.3", "registry.k8s.io/kube-controller-manager:v1.36.3",
		"registry.k8s.io/kube-scheduler:v1.36.3", "registry.k8s.io/kube-proxy:v1.36.3", "registry.k8s.io/coredns/coredns:v1.14.2",
		"registry.k8s.io/pause:3.10.2", "registry.k8s.io/etcd:3.6.8-0"))
}
