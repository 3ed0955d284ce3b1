package parts

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
)

// pretend makes the store believe that a part is built.
func pretend(g Gomega, s *Store, p Part) {
	g.Expect(os.MkdirAll(s.Dir(p), 0o755)).To(Succeed())
	for _, f := range p.Files {
		g.Expect(os.WriteFile(s.Path(p, f), []byte(p.String()), 0o755)).To(Succeed())
	}
}

func TestABundleHoldsEveryProgramThatANodeRuns(t *testing.T) {
	g := NewWithT(t)
	s := openStore(t, NoMirror)
	release, err := ReleaseOf("v1.36.3")
	g.Expect(err).NotTo(HaveOccurred())
	for _, p := range Bundle(release) {
		pretend(g, s, p)
	}
	dir := t.TempDir()
	g.Expect(s.CollectBundle(release, dir)).To(Succeed())
	for _, file := range []string{"bin/kubeadm", "bin/kubelet", "bin/kubectl", "bin/containerd", "bin/containerd-shim-runc-v2", "bin/ctr",
		"bin/runc", "bin/etcdctl", "bin/etcdutl", "cni/bridge", "cni/host-local", "cni/loopback", "cni/portmap", "cni/ptp"} {
		g.Expect(filepath.Join(dir, file)).To(BeAnExistingFile())
	}
	g.Expect(os.WriteFile(filepath.Join(dir, "bin/kubelet"), []byte("spoilt"), 0o755)).To(Succeed())
	g.Expect(os.ReadFile(s.Path(Kubernetes("v1.36.3"), "kubelet"))).To(BeEquivalentTo("kubernetes v1.36.3"))
}

func TestControllerTestsGetOneFolderWithAllTheyNeed(t *testing.T) {
	g := NewWithT(t)
	s := openStore(t, NoMirror)
	release, err := ReleaseOf(EnvtestVersion)
	g.Expect(err).NotTo(HaveOccurred())
	pretend(g, s, Kubernetes(EnvtestVersion))
	pretend(g, s, Etcd(release.Etcd))
	for range 2 { // the second time everything is there
		dir, err := s.Envtest(t.Context(), os.Stderr, EnvtestVersion)
		g.Expect(err).NotTo(HaveOccurred())
		for _, name := range []string{"kube-apiserver", "etcd", "kubectl"} {
			g.Expect(filepath.Join(dir, name)).To(BeAnExistingFile())
		}
	}
}

func TestAVersionWithoutARecipeIsRefused(t *testing.T) {
	g := NewWithT(t)
	_, err := ReleaseOf("v1.20.1")
	g.Expect(err).To(MatchError(ContainSubstring("v1.20.1")))
}
