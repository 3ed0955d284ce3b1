package address

import (
	"net/netip"
	"testing"

	. "github.com/onsi/gomega"
)

func TestNoTwoThingsOfALabShareAnAddress(t *testing.T) {
	g := NewWithT(t)
	for _, slot := range []int{0, 7, Slots - 1} {
		plan := Plan{Slot: slot}
		seen := map[netip.Addr]bool{plan.Gateway(): true, plan.Registry(): true, plan.LoadBalancer(): true}
		g.Expect(seen).To(HaveLen(3))
		pods := map[netip.Prefix]bool{}
		for i := range MaxHosts {
			seen[plan.Host(i)], pods[plan.HostPods(i)] = true, true
			g.Expect(plan.Network().Contains(plan.Host(i))).To(BeTrue())
			g.Expect(plan.Pods().Overlaps(plan.HostPods(i))).To(BeTrue())
		}
		g.Expect(seen).To(HaveLen(3 + MaxHosts))
		g.Expect(pods).To(HaveLen(MaxHosts))
	}
}

func TestLabsAreApart(t *testing.T) {
	g := NewWithT(t)
	for a := range Slots {
		for b := range a {
			g.Expect(Plan{a}.Network().Overlaps(Plan{b}.Network())).To(BeFalse())
			g.Expect(Plan{a}.Pods().Overlaps(Plan{b}.Pods())).To(BeFalse())
		}
		g.Expect(Services.Overlaps(Plan{a}.Pods())).To(BeFalse())
	}
}

func TestAFreePlanAvoidsWhatIsInUse(t *testing.T) {
	for name, test := range map[string]struct {
		inUse []string
		slot  int
	}{
		"nothing in use":                    {nil, 0},
		"a default route reserves nothing":  {[]string{"0.0.0.0/0"}, 0},
		"another lab's network":             {[]string{"172.30.0.0/24"}, 1},
		"a network that holds several":      {[]string{"172.30.0.0/22"}, 4},
		"a network where the pods would be": {[]string{"10.100.7.0/24", "10.101.0.0/16"}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			var inUse []netip.Prefix
			for _, p := range test.inUse {
				inUse = append(inUse, netip.MustParsePrefix(p))
			}
			g.Expect(Free(inUse)).To(Equal(Plan{Slot: test.slot}))
		})
	}
}

func TestAMachineWithoutFreeNetworksSaysWhatToDo(t *testing.T) {
	g := NewWithT(t)
	_, err := Free([]netip.Prefix{netip.MustParsePrefix("172.16.0.0/12")})
	g.Expect(err).To(MatchError(ContainSubstring("lab down")))
}
