// Package address plans the addresses of a lab: one Docker network per lab, a fixed address per container, and a range
// of pod addresses per host, so that a restarted host is found where it was.
package address

import (
	"fmt"
	"net/netip"
)

// Slots is how many labs fit side by side on one machine.
const Slots = 100

// MaxHosts is how many hosts fit into one lab.
const MaxHosts = 200

const (
	registryNumber     = 2
	loadBalancerNumber = 3
	firstHostNumber    = 10
)

// Services is the range of service addresses. It is the same in every lab: they never leave a host.
var Services = netip.MustParsePrefix("10.96.0.0/16")

// Plan is the addresses of one lab.
type Plan struct {
	// Slot tells labs on one machine apart, 0 to Slots-1.
	Slot int
}

// Network is the lab's Docker network, e.g. 172.30.0.0/24.
func (p Plan) Network() netip.Prefix {
	return netip.PrefixFrom(netip.AddrFrom4([4]byte{172, 30, byte(p.Slot), 0}), 24)
}

// Pods is the range that all pods of the lab are in. Labs differ in it, because the machine's connection tracking sees
// the traffic of all of them.
func (p Plan) Pods() netip.Prefix {
	return netip.PrefixFrom(netip.AddrFrom4([4]byte{10, byte(100 + p.Slot), 0, 0}), 16)
}

// Gateway is the machine's own address in the lab's network.
func (p Plan) Gateway() netip.Addr { return p.number(1) }

// Registry is the registry's address.
func (p Plan) Registry() netip.Addr { return p.number(registryNumber) }

// LoadBalancer is the address of the load balancer in front of the API.
func (p Plan) LoadBalancer() netip.Addr { return p.number(loadBalancerNumber) }

// Host is the address of the host with this index, counted from 0.
func (p Plan) Host(index int) netip.Addr { return p.number(firstHostNumber + index) }

// HostPods is the range of the pods on the host with this index, counted from 0.
func (p Plan) HostPods(index int) netip.Prefix {
	return netip.PrefixFrom(netip.AddrFrom4([4]byte{10, byte(100 + p.Slot), byte(index + 1), 0}), 24)
}

func (p Plan) number(n int) netip.Addr {
	return netip.AddrFrom4([4]byte{172, 30, byte(p.Slot), byte(n)})
}

// Free finds a plan whose network and pods overlap nothing in use.
func Free(inUse []netip.Prefix) (Plan, error) {
	for slot := range Slots {
		plan := Plan{Slot: slot}
		if !overlapsAny(plan.Network(), inUse) && !overlapsAny(plan.Pods(), inUse) {
			return plan, nil
		}
	}
	return Plan{}, fmt.Errorf("no free network for the lab between 172.30.0.0/24 and 172.30.%d.0/24; "+
		"remove labs that are not needed (lab down) or Docker networks (docker network ls)", Slots-1)
}

func overlapsAny(p netip.Prefix, inUse []netip.Prefix) bool {
	for _, used := range inUse {
		// A default route covers everything and reserves nothing.
		if used.Bits() > 0 && used.Overlaps(p) {
			return true
		}
	}
	return false
}
