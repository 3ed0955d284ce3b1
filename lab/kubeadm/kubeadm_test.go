package kubeadm

import (
	"net/netip"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"sigs.k8s.io/yaml"
)

func cluster() Cluster {
	return Cluster{Lab: "refit", Version: "v1.35.4", Endpoint: "172.30.0.3:6443", Token: "abcdef.0123456789abcdef",
		CertificateKey: "00ff", Pods: netip.MustParsePrefix("10.100.0.0/16"), Services: netip.MustParsePrefix("10.96.0.0/16"),
		APIServerArgs: ShutdownArgs(3), CgroupDriver: "cgroupfs", ResolvConf: "/etc/lab/resolv.conf"}
}

func node() Node {
	return Node{Name: "cp-1", Address: netip.MustParseAddr("172.30.0.10"), ControlPlane: true, CAHash: "sha256:aa"}
}

// documents parses each document of a file, by kind.
func documents(g Gomega, text string) map[string]map[string]any {
	found := map[string]map[string]any{}
	for document := range strings.SplitSeq(text, "\n---\n") {
		var content map[string]any
		g.Expect(yaml.UnmarshalStrict([]byte(document), &content)).To(Succeed(), document)
		kind, ok := content["kind"].(string)
		g.Expect(ok).To(BeTrue())
		found[kind] = content
	}
	return found
}

func TestInitDescribesTheWholeCluster(t *testing.T) {
	g := NewWithT(t)
	text, err := Init(cluster(), node())
	g.Expect(err).NotTo(HaveOccurred())
	all := documents(g, text)
	g.Expect(all).To(HaveLen(4))
	g.Expect(all["ClusterConfiguration"]).To(HaveKeyWithValue("controlPlaneEndpoint", "172.30.0.3:6443"))
	g.Expect(all["ClusterConfiguration"]["apiServer"]).To(HaveKeyWithValue("certSANs", ContainElement("127.0.0.1")))
	g.Expect(all["ClusterConfiguration"]).NotTo(HaveKey("etcd"))
	g.Expect(all["KubeletConfiguration"]).To(HaveKeyWithValue("failCgroupV1", false))
	g.Expect(all["InitConfiguration"]["nodeRegistration"]).To(HaveKeyWithValue("name", "cp-1"))
	g.Expect(all["InitConfiguration"]["nodeRegistration"]).NotTo(HaveKey("taints"))
	g.Expect(text).To(ContainSubstring(`{name: shutdown-delay-duration, value: "5s"}`))
}

func TestAClusterOfControlPlanesOnlyHasNoTaints(t *testing.T) {
	g := NewWithT(t)
	n := node()
	n.NoTaints = true
	text, err := Init(cluster(), n)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(documents(g, text)["InitConfiguration"]["nodeRegistration"]).To(HaveKeyWithValue("taints", BeEmpty()))
}

func TestFlagsOfEtcdAreHandedOn(t *testing.T) {
	g := NewWithT(t)
	c := cluster()
	c.APIServerArgs = nil
	c.EtcdArgs = []Argument{{Name: "quota-backend-bytes", Value: "8388608"}}
	text, err := Init(c, node())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(documents(g, text)["ClusterConfiguration"]["etcd"]).To(HaveKeyWithValue("local",
		HaveKeyWithValue("extraArgs", ConsistOf(HaveKeyWithValue("value", "8388608")))))
}

func TestOnlyAControlPlaneJoinsAsOne(t *testing.T) {
	g := NewWithT(t)
	text, err := Join(cluster(), node())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(documents(g, text)["JoinConfiguration"]["controlPlane"]).To(HaveKeyWithValue("certificateKey", "00ff"))
	worker := node()
	worker.ControlPlane = false
	text, err = Join(cluster(), worker)
	g.Expect(err).NotTo(HaveOccurred())
	joined := documents(g, text)["JoinConfiguration"]
	g.Expect(joined).NotTo(HaveKey("controlPlane"))
	g.Expect(joined["discovery"]).To(HaveKeyWithValue("bootstrapToken", HaveKeyWithValue("caCertHashes", ConsistOf("sha256:aa"))))
}

func TestALoneAPIServerStopsWithoutADelay(t *testing.T) {
	g := NewWithT(t)
	g.Expect(ShutdownArgs(1)).To(BeEmpty())
	g.Expect(ShutdownArgs(3)).NotTo(BeEmpty())
}

func TestTextThatIsNoCertificateIsRefused(t *testing.T) {
	g := NewWithT(t)
	_, err := CAHash("hello")
	g.Expect(err).To(MatchError(ContainSubstring("PEM")))
}
