package lab

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"time"

	"refit.dev/refit/lab/address"
	"refit.dev/refit/lab/engine"
	"refit.dev/refit/lab/host"
	"refit.dev/refit/lab/image"
	"refit.dev/refit/lab/loadbalancer"
	"refit.dev/refit/lab/registry"
)

// networkAttempts is how often another network is tried where one that looked free was taken meanwhile.
const networkAttempts = 5

// makeNetwork makes the lab's network in a range that nothing uses.
func (b *bringUp) makeNetwork(ctx context.Context) error {
	inUse, err := networksInUse(ctx)
	if err != nil {
		return err
	}
	for range networkAttempts {
		plan, err := address.Free(inUse)
		if err != nil {
			return err
		}
		_, err = engine.Output(ctx, "network", "create", "--subnet", plan.Network().String(), "--gateway", plan.Gateway().String(),
			"--label", host.LabelLab+"="+b.Name, b.network())
		if err == nil {
			b.plan = plan
			return nil
		}
		if !strings.Contains(err.Error(), "overlaps") {
			return fmt.Errorf("make the lab's network: %w", err)
		}
		inUse = append(inUse, plan.Network())
	}
	return fmt.Errorf("make the lab's network: %d ranges in turn were taken while being tried; try again", networkAttempts)
}

func (b *bringUp) network() string { return "refit-lab-" + b.Name }

// networksInUse are the ranges of the machine's interfaces and of every Docker network, also of those that are idle.
func networksInUse(ctx context.Context) ([]netip.Prefix, error) {
	var inUse []netip.Prefix
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		return nil, fmt.Errorf("list this machine's networks: %w", err)
	}
	for _, a := range addresses {
		if p, err := netip.ParsePrefix(a.String()); err == nil {
			inUse = append(inUse, p.Masked())
		}
	}
	ids, err := engine.Output(ctx, "network", "ls", "--quiet")
	if err != nil {
		return nil, err
	}
	text, err := engine.Output(ctx, append([]string{"network", "inspect", "--format", "{{range .IPAM.Config}}{{.Subnet}} {{end}}"},
		strings.Fields(ids)...)...)
	if err != nil {
		return nil, err
	}
	for _, field := range strings.Fields(text) {
		if p, err := netip.ParsePrefix(field); err == nil {
			inUse = append(inUse, p)
		}
	}
	return inUse, nil
}

// serviceFlags let a service's network be slowed down or cut.
var serviceFlags = []string{"--cap-add", "NET_ADMIN"}

// startRegistry starts the registry and waits until it answers.
func (b *bringUp) startRegistry(ctx context.Context) error {
	h := &host.Host{Name: "registry", Container: b.Name + "-registry", Role: host.Registry, Address: b.plan.Registry()}
	err := b.startService(ctx, h, []int{registry.Port}, host.Creation{Data: registry.Data,
		Command: []string{"/usr/local/bin/registry", "serve", "/" + registry.ConfigPath},
		Files:   []image.File{{Path: registry.ConfigPath, Content: registry.Config(), Mode: 0o644}}})
	if err != nil {
		return err
	}
	b.lab.registry = h
	return nil
}

// startLoadBalancer starts HAProxy in front of servers that are not there yet.
func (b *bringUp) startLoadBalancer(ctx context.Context) error {
	nodes := b.lab.Workers()
	if len(nodes) == 0 {
		nodes = b.lab.ControlPlanes()
	}
	config, err := loadbalancer.Config(servers(b.lab.ControlPlanes()), servers(nodes))
	if err != nil {
		return err
	}
	const path = "etc/haproxy/haproxy.cfg"
	h := &host.Host{Name: "load-balancer", Container: b.Name + "-load-balancer", Role: host.LoadBalancer, Address: b.plan.LoadBalancer()}
	return b.startService(ctx, h, []int{loadbalancer.Port, loadbalancer.ApplicationPort}, host.Creation{
		Command: []string{"/usr/sbin/haproxy", "-W", "-db", "-f", "/" + path},
		Files:   []image.File{{Path: path, Content: config, Mode: 0o644}}})
}

func servers(hosts []*host.Host) []loadbalancer.Server {
	var all []loadbalancer.Server
	for _, h := range hosts {
		all = append(all, loadbalancer.Server{Name: h.Name, Address: h.Address})
	}
	return all
}

// startService makes and starts a container that listens on the ports, and waits for the first of them.
func (b *bringUp) startService(ctx context.Context, h *host.Host, ports []int, c host.Creation) error {
	c.Ports = map[int]int{}
	for _, port := range ports {
		c.Ports[port] = b.lab.ports[port]
	}
	c.Lab, c.Image, c.Network, c.Version, c.Flags = b.Name, b.image, b.network(), b.Version, serviceFlags
	if err := h.Create(ctx, c); err != nil {
		return err
	}
	if err := h.PowerOn(ctx); err != nil {
		return err
	}
	return awaitAnswer(ctx, h, ports[0])
}

// freePort finds a port of the loopback address. Docker would choose another one at every start.
func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("find a free port: %w", err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

// answerDeadline bounds the wait for a service's first answer.
const answerDeadline = 20 * time.Second

// awaitAnswer waits until a service accepts connections from the machine, and gives up at once where it has ended.
func awaitAnswer(ctx context.Context, h *host.Host, port int) error {
	ctx, cancel := context.WithTimeout(ctx, answerDeadline)
	defer cancel()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		err := h.Answers(ctx, port)
		if err == nil {
			return nil
		}
		state, stateErr := h.State(ctx)
		if stateErr == nil && state != "running" {
			return fmt.Errorf("the %s ended at once: %s", h.Name, h.Console(ctx))
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the %s did not answer within %s: %w", h.Name, answerDeadline, err)
		case <-tick.C:
		}
	}
}

// nameServers are the machine's own, as far as a pod can reach them. CoreDNS needs at least one; where there is none,
// the network's gateway stands in, and only names outside the cluster stay unknown.
func nameServers(resolvConf string, otherwise netip.Addr) []string {
	text, err := os.ReadFile(filepath.Clean(resolvConf))
	if err != nil {
		return []string{otherwise.String()}
	}
	var servers []string
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if len(fields) != 2 || fields[0] != "nameserver" {
			continue
		}
		if a, err := netip.ParseAddr(fields[1]); err == nil && !a.IsLoopback() && a.Is4() {
			servers = append(servers, a.String())
		}
	}
	if len(servers) == 0 {
		return []string{otherwise.String()}
	}
	return servers
}
