package loadbalancer

import (
	"net/netip"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

func three() []Server {
	return []Server{{"cp-1", netip.MustParseAddr("172.30.0.10")}, {"cp-2", netip.MustParseAddr("172.30.0.11")},
		{"cp-3", netip.MustParseAddr("172.30.0.12")}}
}

// settings is the configuration without its comments.
func settings(text string) string {
	var kept []string
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "#") {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "")
}

func TestEveryAPIServerIsBehindTheLoadBalancer(t *testing.T) {
	g := NewWithT(t)
	text, err := Config(three(), three()[1:])
	g.Expect(err).NotTo(HaveOccurred())
	for _, s := range three() {
		g.Expect(text).To(ContainSubstring("  server " + s.Name + " " + s.Address.String() + ":6443\n"))
	}
	g.Expect(text).To(ContainSubstring("  server cp-2 172.30.0.11:30080\n"))
	g.Expect(text).NotTo(ContainSubstring("172.30.0.10:30080"))
}

func TestConnectionsUnderWayAreNeverCut(t *testing.T) {
	g := NewWithT(t)
	text, err := Config(three(), three())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(settings(text)).NotTo(ContainSubstring("shutdown-sessions"))
	g.Expect(settings(text)).To(ContainSubstring("option redispatch"))
}

func TestALoneAPIServerIsGivenUpLater(t *testing.T) {
	g := NewWithT(t)
	several, err := Config(three(), three())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(several).To(ContainSubstring("rise 2 fall 1\n  server cp-1 172.30.0.10:6443"))
	lone, err := Config(three()[:1], three())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(lone).To(ContainSubstring("rise 2 fall 3\n  server cp-1 172.30.0.10:6443"))
}
