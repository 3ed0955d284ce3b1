package images

import (
	"testing"

	. "github.com/onsi/gomega"
	"sigs.k8s.io/yaml"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/bundle"
	"refit.dev/refit/internal/node/spec"
	"refit.dev/refit/internal/node/task"
)

// bundled is what kubeadm lists without a configuration.
var bundled = []string{
	"registry.k8s.io/kube-apiserver:v1.36.3", "registry.k8s.io/kube-proxy:v1.36.3", "registry.k8s.io/coredns/coredns:v1.14.2",
	"registry.k8s.io/pause:3.10.2", "registry.k8s.io/etcd:3.6.8-0",
}

// The wanted names are what `kubeadm config images list` v1.36.3 prints for each configuration.
func TestNamesAreThoseOfKubeadm(t *testing.T) {
	for _, tt := range []struct {
		name, config string
		want         []string
	}{
		{"without any override", "imageRepository: registry.k8s.io", bundled},
		{"without a repository at all", "kubernetesVersion: v1.35.4", bundled},
		{"a mirror has coredns beside the others", "imageRepository: registry.site:5000/k8s", []string{
			"registry.site:5000/k8s/kube-apiserver:v1.36.3", "registry.site:5000/k8s/kube-proxy:v1.36.3", "registry.site:5000/k8s/coredns:v1.14.2",
			"registry.site:5000/k8s/pause:3.10.2", "registry.site:5000/k8s/etcd:3.6.8-0"}},
		{"dns and etcd from elsewhere, at tags of their own",
			"{imageRepository: registry.k8s.io, dns: {imageRepository: dns.site, imageTag: v9}, etcd: {local: {imageRepository: etcd.site, imageTag: 3.6.9-0}}}", []string{
				"registry.k8s.io/kube-apiserver:v1.36.3", "registry.k8s.io/kube-proxy:v1.36.3", "dns.site/coredns:v9", "registry.k8s.io/pause:3.10.2", "etcd.site/etcd:3.6.9-0"}},
		{"a mirror, but dns from where it comes by default", "{imageRepository: registry.site, dns: {imageRepository: registry.k8s.io}}", []string{
			"registry.site/kube-apiserver:v1.36.3", "registry.site/kube-proxy:v1.36.3", "registry.k8s.io/coredns/coredns:v1.14.2", "registry.site/pause:3.10.2", "registry.site/etcd:3.6.8-0"}},
		{"etcd outside the cluster, addons turned off", "{etcd: {external: {endpoints: [\"https://e:2379\"]}}, dns: {disabled: true}, proxy: {disabled: true}}", []string{
			"registry.k8s.io/kube-apiserver:v1.36.3", "registry.k8s.io/pause:3.10.2"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := NewWithT(t)
			config := map[string]any{}
			g.Expect(yaml.Unmarshal([]byte(tt.config), &config)).To(Succeed())
			node := &task.Task{Spec: spec.Spec{NodeType: v1alpha1.NodeTypeControlPlane}, Bundle: bundle.Manifest{Images: bundled}}
			g.Expect(Names(node, config)).To(Equal(tt.want))
			node.Spec.NodeType = v1alpha1.NodeTypeWorker
			g.Expect(Names(node, config)).NotTo(ContainElement(ContainSubstring("kube-apiserver")))
		})
	}
}
