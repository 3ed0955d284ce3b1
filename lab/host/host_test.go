package host

import (
	"net/netip"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"refit.dev/refit/lab/image"
	"refit.dev/refit/lab/parts"
)

func settings() Settings {
	return Settings{Sandbox: "registry.k8s.io/pause:3.10.1", RestrictOOMScore: true, Pods: netip.MustParsePrefix("10.100.1.0/24"),
		AllPods: netip.MustParsePrefix("10.100.0.0/16"), Registry: "172.30.0.2:5000", NameServers: []string{"192.0.2.53"},
		Routes: []Route{{netip.MustParsePrefix("10.100.2.0/24"), netip.MustParseAddr("172.30.0.11")}}}
}

func byPath(files []image.File) map[string]image.File {
	found := map[string]image.File{}
	for _, f := range files {
		found[f.Path] = f
	}
	return found
}

func TestAHostsFilesSayWhatItsSettingsSay(t *testing.T) {
	g := NewWithT(t)
	files, err := settings().Files()
	g.Expect(err).NotTo(HaveOccurred())
	found := byPath(files)
	for path, text := range map[string]string{
		"etc/containerd/config.toml":                 "restrict_oom_score_adj = true",
		"etc/cni/net.d/10-lab.conflist":              `"subnet": "10.100.1.0/24"`,
		"etc/lab/network":                            "ip route replace 10.100.2.0/24 via 172.30.0.11\n",
		"etc/lab/resolv.conf":                        "nameserver 192.0.2.53\n",
		"etc/containerd/certs.d/_default/hosts.toml": `[host."http://172.30.0.2:5000"]`,
	} {
		g.Expect(found).To(HaveKey(path))
		g.Expect(found[path].Content).To(ContainSubstring(text))
	}
}

func TestAHostHasItsProgramsWhereItsUnitsLookForThem(t *testing.T) {
	g := NewWithT(t)
	t.Setenv("REFIT_CACHE", t.TempDir())
	store, err := parts.OpenStore()
	g.Expect(err).NotTo(HaveOccurred())
	files, err := System{Version: "v1.35.4", Containerd: "v2.2.8"}.layout(store)
	g.Expect(err).NotTo(HaveOccurred())
	for range 20 {
		again, err := System{Version: "v1.35.4", Containerd: "v2.2.8"}.layout(store)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(again).To(Equal(files), "the same system is the same image")
	}
	found := byPath(files)
	g.Expect(found).To(HaveLen(len(files)), "no path twice: docker import refuses that")
	for _, path := range []string{"usr/bin/kubeadm", "usr/bin/kubelet", "usr/bin/kubectl", "usr/local/bin/containerd",
		"usr/local/bin/containerd-shim-runc-v2", "usr/local/sbin/runc", "opt/cni/bin/ptp", "usr/local/sbin/lab-init"} {
		g.Expect(found).To(HaveKey(path))
	}
	g.Expect(found["etc/systemd/system/kubelet.service"].Content).To(ContainSubstring("ExecStart=/usr/bin/kubelet"))
	g.Expect(found["etc/systemd/system/containerd.service"].Content).To(ContainSubstring("ExecStart=/usr/local/bin/containerd"))
	g.Expect(found["etc/machine-id"].Content).To(BeEmpty())
}

func TestCuttingANetworkDropsBothWays(t *testing.T) {
	g := NewWithT(t)
	g.Expect(cutRules(nil)).To(ConsistOf("PREROUTING -i eth0 -j DROP", "OUTPUT -o eth0 -j DROP"))
	some := strings.Join(cutRules([]netip.Addr{netip.MustParseAddr("172.30.0.2")}), "\n")
	g.Expect(some).To(ContainSubstring("PREROUTING -s 172.30.0.2"))
	g.Expect(some).To(ContainSubstring("OUTPUT -d 172.30.0.2"))
}

func TestAFillIsBounded(t *testing.T) {
	g := NewWithT(t)
	h := &Host{Name: "cp-1", Container: "none"}
	g.Expect(h.FillDisk(t.Context(), "/var", 1<<40)).To(MatchError(ContainSubstring("8 GiB")))
	g.Expect(h.FillDisk(t.Context(), "/var", 0)).To(HaveOccurred())
}
