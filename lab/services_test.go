package lab

import (
	"net/netip"
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
)

func TestNameServersAreThoseThatAPodCanReach(t *testing.T) {
	gateway := netip.MustParseAddr("172.30.0.1")
	for name, test := range map[string]struct {
		text   string
		wanted []string
	}{
		"ordinary ones are taken":               {"nameserver 192.0.2.53\nnameserver 192.0.2.54\nsearch example.com\n", []string{"192.0.2.53", "192.0.2.54"}},
		"one on a loopback address is not":      {"nameserver 127.0.0.53\nnameserver 192.0.2.53\n", []string{"192.0.2.53"}},
		"none at all leaves the gateway":        {"nameserver 127.0.0.1\n", []string{"172.30.0.1"}},
		"a file that makes no sense, the same":  {"nameserver\nnameserver x\n", []string{"172.30.0.1"}},
		"one that only IPv6 reaches, the same":  {"nameserver fe80::1\n", []string{"172.30.0.1"}},
		"an empty file leaves the gateway, too": {"", []string{"172.30.0.1"}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			file := filepath.Join(t.TempDir(), "resolv.conf")
			g.Expect(os.WriteFile(file, []byte(test.text), 0o644)).To(Succeed())
			g.Expect(nameServers(file, gateway)).To(Equal(test.wanted))
		})
	}
}

func TestAMissingResolvConfLeavesTheGateway(t *testing.T) {
	g := NewWithT(t)
	g.Expect(nameServers(filepath.Join(t.TempDir(), "none"), netip.MustParseAddr("172.30.0.1"))).To(Equal([]string{"172.30.0.1"}))
}

func TestTheDemoNeedsEachPartOnceAndTheSlowestAreAmongThem(t *testing.T) {
	g := NewWithT(t)
	names := map[string]bool{}
	for _, p := range DemoParts() {
		names[p.String()] = true
	}
	g.Expect(names).To(HaveKey("kubernetes " + DefaultVersion))
	g.Expect(names).To(HaveKey("kubernetes " + DemoTarget))
	g.Expect(names).To(HaveKey("containerd " + DefaultContainerd))
	g.Expect(names).To(HaveKey("webapp v1"))
	g.Expect(names).To(HaveLen(14))
}
