package lab

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"refit.dev/refit/lab/engine"
	"refit.dev/refit/lab/host"
	"refit.dev/refit/lab/image"
	"refit.dev/refit/lab/loadbalancer"
	"refit.dev/refit/lab/registry"
)

// Lab is a cluster of this machine.
type Lab struct {
	// Name tells it from others.
	Name string
	// Version is the Kubernetes version that it was brought up with.
	Version string

	dir      string
	hosts    []*host.Host
	registry *host.Host
	balancer *host.Host
	// ports are where the services are on the machine's loopback address, by the port in their container.
	ports map[int]int
}

// Open finds a lab that was brought up before, whether all of it runs or not. An empty name means DefaultName.
func Open(ctx context.Context, name string) (*Lab, error) { return OpenIn(ctx, name, "") }

// OpenIn is Open for a lab whose files are in another folder than the default.
func OpenIn(ctx context.Context, name, dir string) (*Lab, error) {
	o, err := Options{Name: name, Dir: dir}.complete()
	if err != nil {
		return nil, err
	}
	l := &Lab{Name: o.Name, dir: folder(o.Dir, o.Name), ports: map[int]int{}}
	found, err := containers(ctx, o.Name)
	if err != nil {
		return nil, err
	}
	for _, c := range found {
		if err := l.add(c); err != nil {
			return nil, err
		}
	}
	if len(l.hosts) == 0 {
		return nil, fmt.Errorf("there is no lab named %s on this machine; bring it up with: lab up --name %s", o.Name, o.Name)
	}
	slices.SortFunc(l.hosts, func(a, b *host.Host) int { return a.Index - b.Index })
	return l, nil
}

// container is what the Engine knows of one.
type container struct {
	Name   string
	Config struct{ Labels map[string]string }
	// NetworkSettings holds the fixed addresses, which are known of a container that is off, too.
	NetworkSettings struct {
		Networks map[string]struct {
			IPAMConfig struct{ IPv4Address string }
		}
	}
}

func containers(ctx context.Context, name string) ([]container, error) {
	ids, err := objects(ctx, name, "ps", "--all", "--quiet", "--no-trunc")
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	text, err := engine.Output(ctx, append([]string{"inspect", "--type", "container"}, ids...)...)
	if err != nil {
		return nil, err
	}
	var found []container
	if err := json.Unmarshal([]byte(text), &found); err != nil {
		return nil, fmt.Errorf("read what docker says about the lab's containers: %w", err)
	}
	return found, nil
}

// objects lists what belongs to the lab with one of Docker's list commands.
func objects(ctx context.Context, name string, list ...string) ([]string, error) {
	text, err := engine.Output(ctx, append(list, "--filter", "label="+host.LabelLab+"="+name)...)
	return strings.Fields(text), err
}

func (l *Lab) add(c container) error {
	labels := c.Config.Labels
	h := &host.Host{Name: labels[host.LabelHost], Container: strings.TrimPrefix(c.Name, "/"), Role: host.Role(labels[host.LabelRole])}
	for _, n := range c.NetworkSettings.Networks {
		at, err := netip.ParseAddr(n.IPAMConfig.IPv4Address)
		if err != nil {
			return fmt.Errorf("read the address of %s: %w", h.Container, err)
		}
		h.Address = at
	}
	for label, text := range labels {
		inside, found := strings.CutPrefix(label, host.LabelPort+".")
		if !found {
			continue
		}
		port, err := strconv.Atoi(inside)
		at, atErr := strconv.Atoi(text)
		if err := errors.Join(err, atErr); err != nil {
			return fmt.Errorf("read the ports of %s: %w", h.Container, err)
		}
		l.ports[port] = at
	}
	switch h.Role {
	case host.Registry:
		l.registry = h
	case host.LoadBalancer:
		l.balancer = h
	case host.ControlPlane, host.Worker:
		index, err := strconv.Atoi(labels[host.LabelIndex])
		if err != nil {
			return fmt.Errorf("read the number of %s: %w", h.Container, err)
		}
		h.Index, l.Version = index, labels[host.LabelVersion]
		l.hosts = append(l.hosts, h)
	}
	return nil
}

// Hosts are the lab's nodes, control planes first.
func (l *Lab) Hosts() []*host.Host { return slices.Clone(l.hosts) }

// Host finds one by its name: a node, "registry" or "load-balancer".
func (l *Lab) Host(name string) (*host.Host, error) {
	var names []string
	for _, h := range append(l.Hosts(), l.registry, l.balancer) {
		if h == nil {
			continue
		}
		if h.Name == name {
			return h, nil
		}
		names = append(names, h.Name)
	}
	return nil, fmt.Errorf("lab %s has no host %q; it has %s", l.Name, name, strings.Join(names, ", "))
}

// Registry is the registry's container. PowerCut stops it, PowerOn starts it, SlowNetwork slows it down.
func (l *Lab) Registry() *host.Host { return l.registry }

// LoadBalancer is the container in front of the API.
func (l *Lab) LoadBalancer() *host.Host { return l.balancer }

// Kubeconfig is the path of a file for kubectl on this machine.
func (l *Lab) Kubeconfig() string { return filepath.Join(l.dir, "kubeconfig") }

// APIAddress is where the load-balanced API answers on this machine, host:port.
func (l *Lab) APIAddress() string { return l.loopback(loadbalancer.Port) }

// ApplicationAddress is where the service with node port loadbalancer.NodePort (30080) answers on this machine,
// host:port, load-balanced over the nodes that are up.
func (l *Lab) ApplicationAddress() string { return l.loopback(loadbalancer.ApplicationPort) }

// RegistryAddress is where the registry answers on this machine, host:port, plain http. Nodes find what is pushed there
// under any registry's name.
func (l *Lab) RegistryAddress() string { return l.loopback(registry.Port) }

// Gateway is the machine's own address in the lab's network, at which hosts and pods reach it.
func (l *Lab) Gateway() (netip.Addr, error) {
	network, err := l.registry.Address.Prefix(24)
	if err != nil {
		return netip.Addr{}, fmt.Errorf("work out the network of %s: %w", l.registry.Address, err)
	}
	return network.Addr().Next(), nil
}

func (l *Lab) loopback(port int) string { return fmt.Sprintf("127.0.0.1:%d", l.ports[port]) }

// PushImage makes img available to the nodes as ref, e.g. refit.dev/manager:v0.1.0, and returns ref by digest.
func (l *Lab) PushImage(ctx context.Context, ref string, img v1.Image) (string, error) {
	return image.Push(ctx, l.RegistryAddress(), ref, img)
}
