package e2e

import (
	"context"
	"fmt"
	"path"
	"strings"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/lab/host"
)

// everywhereAt checks that each node runs what a version consists of: programs, static pods, containerd; and that the
// versions' states say so.
func (c *cluster) everywhereAt(version string) {
	c.t.Helper()
	var target v1alpha1.KubernetesVersion
	c.Expect(c.Client.Get(c.ctx, client.ObjectKey{Name: version}, &target)).To(Succeed())
	var nodes corev1.NodeList
	c.Expect(c.Client.List(c.ctx, &nodes)).To(Succeed())
	for _, n := range nodes.Items {
		info := n.Status.NodeInfo
		c.Expect(info.KubeletVersion).To(Equal(version), n.Name)
		c.Expect(info.ContainerRuntimeVersion).To(Equal("containerd://"+strings.TrimPrefix(target.Component("containerd"), "v")), n.Name)
		for _, program := range []string{"kubelet --version", "kubeadm version -o short", "kubectl version --client"} {
			c.Expect(c.on(n.Name, program)).To(ContainSubstring(version), "%s on %s", program, n.Name)
		}
	}
	c.controlPlanesAt(version, target.Component("etcd"))
	c.etcdHealthy(version)
	c.until("the versions' states to follow", soon, func(ctx context.Context) (bool, string, error) {
		err := c.Client.Get(ctx, client.ObjectKey{Name: version}, &target)
		return target.Status.State == v1alpha1.VersionActive && target.Status.Target, string(target.Status.State), err
	})
}

// controlPlanesAt checks the images of the static pods, as the kubelets report what runs.
func (c *cluster) controlPlanesAt(version, etcdVersion string) {
	c.t.Helper()
	c.until("every static pod to be at "+version, soon, func(ctx context.Context) (bool, string, error) {
		var pods corev1.PodList
		if err := c.Client.List(ctx, &pods, client.InNamespace("kube-system"), client.MatchingLabels{"tier": "control-plane"}); err != nil {
			return false, "", err
		}
		var wrong []string
		for _, p := range pods.Items {
			want := version
			if p.Labels["component"] == "etcd" {
				want = strings.TrimPrefix(etcdVersion, "v")
			}
			if len(p.Status.ContainerStatuses) != 1 || !p.Status.ContainerStatuses[0].Ready || !strings.Contains(p.Status.ContainerStatuses[0].Image, want) {
				wrong = append(wrong, p.Name)
			}
		}
		missing := 4*len(c.Lab.ControlPlanes()) - len(pods.Items)
		return len(wrong) == 0 && missing == 0, fmt.Sprintf("not yet: %v, missing: %d", wrong, missing), nil
	})
}

// etcdHealthy asks every member through each control plane.
func (c *cluster) etcdHealthy(version string) {
	c.t.Helper()
	for _, cp := range c.Lab.ControlPlanes() {
		c.Eventually(func() error {
			out, err := c.etcdctl(cp, version, "endpoint", "health", "--cluster")
			if err != nil {
				return fmt.Errorf("%w: %s", err, out)
			}
			return nil
		}).WithTimeout(soon).WithPolling(every).Should(Succeed())
	}
}

// etcdctl runs the client of a version's bundle on a control plane.
func (c *cluster) etcdctl(cp *host.Host, version string, args ...string) (string, error) {
	const pki = "/etc/kubernetes/pki/etcd/"
	command := append([]string{"timeout", "10", "/opt/refit/versions/" + version + "/bin/etcdctl", "--endpoints=https://127.0.0.1:2379", "--cacert=" + pki + "ca.crt",
		"--cert=" + pki + "healthcheck-client.crt", "--key=" + pki + "healthcheck-client.key"}, args...)
	return cp.Exec(c.ctx, command...)
}

// snapshotsAre checks that each control plane has a snapshot of its own member, and that where there are others, one of each
// member is on another control plane, too.
func (c *cluster) snapshotsAre(controlPlanes int) {
	c.t.Helper()
	own, elsewhere := map[string]bool{}, map[string]bool{}
	for _, cp := range c.Lab.ControlPlanes() {
		files := strings.Fields(c.on(cp.Name, "ls /var/lib/refit/etcd/*.db"))
		c.t.Logf("etcd snapshots on %s: %v", cp.Name, files)
		for _, f := range files {
			member, _, _ := strings.Cut(strings.TrimPrefix(path.Base(f), "etcd-"), "-v1.")
			if member == cp.Name {
				own[member] = true
			} else {
				elsewhere[member] = true
			}
		}
	}
	c.Expect(own).To(HaveLen(controlPlanes))
	if controlPlanes > 1 {
		c.Expect(elsewhere).To(HaveLen(controlPlanes), "a copy of each member's snapshot off its node")
	}
}
