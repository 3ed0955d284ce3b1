package e2e

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"sigs.k8s.io/yaml"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/test/bed"
	"refit.dev/refit/test/invariant"
)

// brokenKubelet says that it is the right version, and runs no node.
const brokenKubelet = "#!/bin/sh\ncase \"$*\" in *--version*) echo Kubernetes " + bed.To + "; exit 0;; esac\necho this kubelet is broken >&2\nexit 1\n"

// Faults 15, 16 and 12, one after another on one cluster: each leaves it whole, at the old version.
func testBundles(t *testing.T) {
	s := shape{controlPlanes: 1, workers: 1, noImport: true}
	c := bringUp(t, "bundles", s)
	_, held := c.watch(s)
	passed := t.Run("a flipped byte is refused", func(t *testing.T) { c.as(t).flippedByte() }) &&
		t.Run("a kubelet that does not come up is taken back", func(t *testing.T) { c.as(t).kubeletCrashes() }) &&
		t.Run("without a registry staging fails and the node is untouched", func(t *testing.T) { c.as(t).noRegistry() })
	if passed {
		held()
		c.ended(invariant.End{AllAt: bed.To})
		c.everywhereAt(bed.To)
	}
}

// unchanged checks that every node is in service at the old version, with the programs that it had.
func (c *cluster) unchanged(programs ...string) {
	c.t.Helper()
	c.ended(invariant.End{AllAt: bed.From})
	for _, h := range c.Lab.Hosts() {
		for _, program := range programs {
			c.Expect(c.on(h.Name, program)).To(ContainSubstring(bed.From), "%s on %s", program, h.Name)
		}
	}
	c.controlPlanesAt(bed.From, c.fromEtcd())
}

// fromEtcd is the etcd version of a node that was not upgraded.
func (c *cluster) fromEtcd() string {
	return strings.TrimSpace(c.on("cp-1", "sed -n 's/.*image: .*etcd:\\([0-9.]*\\).*/\\1/p' /etc/kubernetes/manifests/etcd.yaml"))
}

// abort ends an upgrade that has failed.
func (c *cluster) abort() {
	c.t.Helper()
	c.t.Log(c.refit("abort"))
	c.untilState(v1alpha1.StateUpgradeAborted)
}

// flippedByte is fault 15: `refit bundle import` refuses the bundle, and where somebody makes the KubernetesVersion by hand, the
// step copy-binaries does.
func (c *cluster) flippedByte() {
	image, err := c.PublishFlipped(c.ctx, bed.To, "flipped", "bin/kubelet")
	c.Expect(err).NotTo(HaveOccurred())
	said := c.refused(1, c.ImportArgs("flipped")...)
	c.t.Log(said)
	c.Expect(said).To(ContainSubstring("bin/kubelet"))
	var known v1alpha1.KubernetesVersionList
	c.Expect(c.Client.List(c.ctx, &known)).To(Succeed())
	for _, v := range known.Items {
		c.Expect(v.Name).NotTo(Equal(bed.To), "nothing is changed by a bundle that is refused")
	}

	version := c.versionOf(bed.To)
	version.Spec.Image = image
	c.Expect(c.Client.Create(c.ctx, version)).To(Succeed())
	c.start()
	waiting := c.untilState(v1alpha1.StateUpgradeFailed)
	c.Expect(waiting).To(And(ContainSubstring("copy-binaries"), ContainSubstring("bin/kubelet")))
	c.unchanged("kubelet --version", "kubeadm version -o short", "kubectl version --client")
	c.abort()
	c.Expect(c.Client.Delete(c.ctx, version)).To(Succeed())
}

// versionOf is the KubernetesVersion that the import of a published bundle would make.
func (c *cluster) versionOf(tag string) *v1alpha1.KubernetesVersion {
	c.t.Helper()
	text := c.refit(append(c.ImportArgs(tag), "--dry-run")...)
	v := &v1alpha1.KubernetesVersion{}
	c.Expect(yaml.Unmarshal([]byte(text), v)).To(Succeed(), text)
	return v
}

// kubeletCrashes is fault 16: the checksum is right, but the kubelet ends at once. The old one comes back, and the upgrade stops.
func (c *cluster) kubeletCrashes() {
	c.Expect(c.PublishWith(c.ctx, bed.To, "broken", "bin/kubelet", brokenKubelet)).To(Succeed())
	c.refit(c.ImportArgs("broken")...)
	c.start()
	waiting := c.untilState(v1alpha1.StateUpgradeFailed)
	c.Expect(waiting).To(ContainSubstring("cp-1"))
	u, err := c.claim(c.ctx, "cp-1")
	c.Expect(err).NotTo(HaveOccurred())
	c.Expect(u.Status.Phase).To(Equal(v1alpha1.NodeFailed))
	c.Expect(u.Status.Attempts).To(BeNumerically("<=", 1), "what was taken back is not tried again by itself")
	c.unchanged("kubelet --version", "kubectl version --client")
	c.abort()
	c.refit(c.ImportArgs(bed.To)...)
}

// noRegistry is fault 12: nothing can be pulled. The registry comes back, and a person says go on.
func (c *cluster) noRegistry() {
	c.Expect(c.Lab.Registry().PowerCut(c.ctx)).To(Succeed())
	c.start()
	waiting := c.untilState(v1alpha1.StateUpgradeFailed)
	c.Expect(waiting).To(MatchRegexp(`(cp|worker)-1 failed`))
	c.unchanged("kubelet --version", "kubectl version --client")
	c.Expect(c.Lab.Registry().PowerOn(c.ctx)).To(Succeed())
	c.t.Log(c.refit("resume"))
	c.complete()
}
