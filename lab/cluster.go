package lab

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"refit.dev/refit/lab/address"
	"refit.dev/refit/lab/host"
	"refit.dev/refit/lab/kubeadm"
	"refit.dev/refit/lab/loadbalancer"
	"refit.dev/refit/lab/registry"
)

// ControlPlanes are the lab's control planes.
func (l *Lab) ControlPlanes() []*host.Host { return l.withRole(host.ControlPlane) }

// Workers are the lab's workers.
func (l *Lab) Workers() []*host.Host { return l.withRole(host.Worker) }

func (l *Lab) withRole(role host.Role) []*host.Host {
	var some []*host.Host
	for _, h := range l.hosts {
		if h.Role == role {
			some = append(some, h)
		}
	}
	return some
}

// complete says whether the bring-up came to its end: the kubeconfig is the last thing it writes.
func (l *Lab) complete() bool {
	_, err := os.Stat(l.Kubeconfig())
	return err == nil && l.registry != nil && l.balancer != nil
}

// describe decides names, addresses, ports and secrets, before anything of it exists.
func (b *bringUp) describe() error {
	for i := range b.ControlPlanes + b.Workers {
		h := &host.Host{Name: fmt.Sprintf("cp-%d", i+1), Role: host.ControlPlane, Index: i, Address: b.plan.Host(i)}
		if i >= b.ControlPlanes {
			h.Name, h.Role = fmt.Sprintf("worker-%d", i-b.ControlPlanes+1), host.Worker
		}
		h.Container = b.Name + "-" + h.Name
		b.lab.hosts = append(b.lab.hosts, h)
	}
	for _, port := range []int{registry.Port, loadbalancer.Port, loadbalancer.ApplicationPort} {
		at, err := freePort()
		if err != nil {
			return err
		}
		b.lab.ports[port] = at
	}
	driver, err := cgroupDriver()
	if err != nil {
		return err
	}
	b.cluster = kubeadm.Cluster{Lab: b.Name, Version: b.Version, Endpoint: fmt.Sprintf("%s:%d", b.plan.LoadBalancer(), loadbalancer.Port),
		Token: randomHex(3) + "." + randomHex(8), CertificateKey: randomHex(32), Pods: b.plan.Pods(), Services: address.Services,
		APIServerArgs: append(kubeadm.ShutdownArgs(b.ControlPlanes), b.APIServerArgs...), EtcdArgs: b.EtcdArgs,
		CgroupDriver: driver, ResolvConf: host.ResolvConf}
	return nil
}

// cgroupDriver is who keeps the control groups: with version 2 systemd, which owns the tree; with version 1 each runtime.
func cgroupDriver() (string, error) {
	_, err := os.Stat("/sys/fs/cgroup/cgroup.controllers")
	switch {
	case err == nil:
		return "systemd", nil
	case os.IsNotExist(err):
		return "cgroupfs", nil
	}
	return "", fmt.Errorf("look which version of control groups this machine has: %w", err)
}

// randomHex is n random bytes in hexadecimal.
func randomHex(n int) string {
	raw := make([]byte, n)
	_, _ = rand.Read(raw) // never fails, by its documentation
	return hex.EncodeToString(raw)
}

// makeCluster boots the hosts and makes a cluster of them once the images are published.
func (b *bringUp) makeCluster(ctx context.Context, published <-chan struct{}) error {
	if err := b.boot(ctx); err != nil {
		return err
	}
	select {
	case <-published:
	case <-ctx.Done():
		return ctx.Err()
	}
	planes := b.lab.ControlPlanes()
	pulled := make([]chan struct{}, len(planes))
	group, groupCtx := errgroup.WithContext(ctx)
	for i, h := range planes {
		pulled[i] = make(chan struct{})
		group.Go(func() error { return b.pull(groupCtx, h, pulled[i]) })
	}
	group.Go(func() error { return b.joinAll(groupCtx, planes, pulled) })
	if err := group.Wait(); err != nil {
		return err
	}
	return b.awaitReady(ctx)
}

// boot makes and starts all hosts, and waits for them.
func (b *bringUp) boot(ctx context.Context) error {
	return b.time.Do("booting the hosts", 0, func() error {
		group, ctx := errgroup.WithContext(ctx)
		group.SetLimit(hostsAtOnce)
		for _, h := range b.lab.hosts {
			group.Go(func() error { return b.startHost(ctx, h) })
		}
		return group.Wait()
	})
}

// hostsAtOnce bounds how many hosts boot, or workers join, at the same time.
const hostsAtOnce = 8

func (b *bringUp) startHost(ctx context.Context, h *host.Host) error {
	settings := host.Settings{Sandbox: registry.Sandbox(b.release), RestrictOOMScore: !b.rights.Has("SYS_RESOURCE"),
		SystemdCgroup: b.cluster.CgroupDriver == "systemd", Pods: b.plan.HostPods(h.Index), AllPods: b.plan.Pods(),
		Registry:    fmt.Sprintf("%s:%d", b.plan.Registry(), registry.Port),
		NameServers: nameServers("/etc/resolv.conf", b.plan.Gateway())}
	for _, other := range b.lab.hosts {
		if other != h {
			settings.Routes = append(settings.Routes, host.Route{Pods: b.plan.HostPods(other.Index), Host: other.Address})
		}
	}
	files, err := settings.Files()
	if err != nil {
		return err
	}
	err = h.Create(ctx, host.Creation{Lab: b.Name, Image: b.image, Network: b.network(), Version: b.Version, Data: "/var",
		Flags: host.MachineFlags(b.rights), Command: host.MachineCommand, Files: files})
	if err != nil {
		return err
	}
	if err := h.PowerOn(ctx); err != nil {
		return err
	}
	return h.AwaitBoot(ctx)
}

// joinAll makes the cluster's first node and lets the others in: the workers all at once, the control planes one after
// another, because etcd takes one new member at a time.
func (b *bringUp) joinAll(ctx context.Context, planes []*host.Host, pulled []chan struct{}) error {
	if err := await(ctx, pulled[0]); err != nil {
		return err
	}
	hash, err := b.initialize(ctx, planes[0])
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		for i, h := range planes[1:] {
			if err := await(ctx, pulled[i+1]); err != nil {
				return err
			}
			if err := b.join(ctx, h, hash, costJoin); err != nil {
				return err
			}
		}
		return nil
	})
	group.Go(func() error { return b.joinWorkers(ctx, hash) })
	return group.Wait()
}

// joinWorkers lets all workers in, and only then installs the name server: its two pods spread over the nodes that are
// there when they are placed, and nothing moves them later.
func (b *bringUp) joinWorkers(ctx context.Context, hash string) error {
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(hostsAtOnce)
	for _, h := range b.lab.Workers() {
		group.Go(func() error { return b.join(groupCtx, h, hash, 0) })
	}
	if err := group.Wait(); err != nil {
		return err
	}
	for _, phase := range [][]string{{"addon", "coredns"}, {"upload-config", "kubeadm"}} {
		// kubeadm notes a phase that was left out at first as an add-on that nobody wants, which later upgrades would heed:
		// the second call takes that note back.
		args := append([]string{"init", "phase"}, phase...)
		if err := b.kubeadm(ctx, b.lab.hosts[0], append(args, "--config", configPath)...); err != nil {
			return err
		}
	}
	return nil
}

func await(ctx context.Context, done <-chan struct{}) error {
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

const (
	configPath      = "/etc/lab/kubeadm.yaml"
	kubeadmDeadline = 6 * time.Minute
)

// pull fetches the control plane's images and closes done.
func (b *bringUp) pull(ctx context.Context, h *host.Host, done chan<- struct{}) error {
	config, err := kubeadm.Init(b.cluster, b.node(h))
	if err != nil {
		return err
	}
	if err := h.Copy(ctx, configPath, 0o600, strings.NewReader(config)); err != nil {
		return err
	}
	cost := time.Duration(0)
	if h.Index == 0 {
		cost = costPull
	}
	err = b.time.Do("pulling images on "+h.Name, cost, func() error {
		return b.kubeadm(ctx, h, "config", "images", "pull", "--config", configPath)
	})
	if err != nil {
		return err
	}
	close(done)
	return nil
}

// initialize makes the cluster on its first host and returns the hash of its CA certificate.
func (b *bringUp) initialize(ctx context.Context, h *host.Host) (string, error) {
	err := b.time.Do("kubeadm init on "+h.Name, costInit, func() error {
		return b.kubeadm(ctx, h, "init", "--config", configPath, "--upload-certs", "--skip-token-print",
			"--skip-phases", "addon/coredns")
	})
	if err != nil {
		return "", err
	}
	certificate, err := h.Exec(ctx, "cat", "/etc/kubernetes/pki/ca.crt")
	if err != nil {
		return "", err
	}
	return kubeadm.CAHash(certificate)
}

func (b *bringUp) join(ctx context.Context, h *host.Host, hash string, cost time.Duration) error {
	node := b.node(h)
	node.CAHash = hash
	config, err := kubeadm.Join(b.cluster, node)
	if err != nil {
		return err
	}
	if err := h.Copy(ctx, configPath, 0o600, strings.NewReader(config)); err != nil {
		return err
	}
	return b.time.Do("joining "+h.Name, cost, func() error { return b.kubeadm(ctx, h, "join", "--config", configPath) })
}

func (b *bringUp) node(h *host.Host) kubeadm.Node {
	return kubeadm.Node{Name: h.Name, Address: h.Address, ControlPlane: h.Role == host.ControlPlane, NoTaints: b.Workers == 0}
}

func (b *bringUp) kubeadm(ctx context.Context, h *host.Host, args ...string) error {
	_, err := h.ExecWith(ctx, host.Execution{Command: append([]string{"kubeadm"}, args...), Deadline: kubeadmDeadline})
	return err
}
