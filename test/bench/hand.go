package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"refit.dev/refit/lab/host"
	"refit.dev/refit/test/bed"
)

// hand upgrades a cluster as the kubeadm documentation says, one command typed after another by a script that types the
// next as soon as the last has ended.
type hand struct {
	bed *bed.Bed
	// programs is the folder with the new kubeadm, kubelet and kubectl.
	programs string
	steps    *steps
}

// commandDeadline bounds each command.
const commandDeadline = 15 * time.Minute

func (h *hand) run(ctx context.Context) error {
	for i, cp := range h.bed.Lab.ControlPlanes() {
		command := "node"
		if i == 0 {
			command = "apply " + bed.To + " -y"
		}
		if err := h.node(ctx, cp, command); err != nil {
			return err
		}
	}
	for _, w := range h.bed.Lab.Workers() {
		if err := h.node(ctx, w, "node"); err != nil {
			return err
		}
	}
	return nil
}

// node upgrades one host: kubeadm, kubeadm upgrade, drain, kubelet, wait until Ready, uncordon.
func (h *hand) node(ctx context.Context, n *host.Host, upgrade string) error {
	for _, s := range []struct {
		name string
		do   func() error
	}{
		{"copy programs", func() error { return h.copy(ctx, n, "kubeadm", "/usr/bin/kubeadm") }},
		{"kubeadm", func() error {
			return h.on(ctx, n, "kubeadm upgrade "+upgrade+" --ignore-preflight-errors=all >>/var/log/by-hand.log 2>&1")
		}},
		{"drain", func() error {
			return h.kubectl(ctx, "drain", n.Name, "--ignore-daemonsets", "--delete-emptydir-data", "--timeout=10m")
		}},
		{"kubelet", func() error {
			if err := h.copy(ctx, n, "kubelet", "/usr/bin/kubelet"); err != nil {
				return err
			}
			if err := h.copy(ctx, n, "kubectl", "/usr/bin/kubectl"); err != nil {
				return err
			}
			return h.on(ctx, n, "systemctl daemon-reload && systemctl restart kubelet")
		}},
		{"wait", func() error { return h.ready(ctx, n.Name) }},
		{"uncordon", func() error { return h.again(ctx, "uncordon", n.Name) }},
	} {
		begun := time.Now()
		fmt.Printf("%s %s: %s\n", begun.Format(time.TimeOnly), n.Name, s.name)
		if err := s.do(); err != nil {
			return fmt.Errorf("%s on %s: %w", s.name, n.Name, err)
		}
		h.steps.add(n.Name, s.name, time.Since(begun))
	}
	return nil
}

func (h *hand) copy(ctx context.Context, n *host.Host, program, to string) error {
	f, err := os.Open(filepath.Join(h.programs, program))
	if err != nil {
		return err
	}
	defer f.Close()
	return n.Copy(ctx, to, 0o755, f)
}

func (h *hand) on(ctx context.Context, n *host.Host, script string) error {
	_, err := n.ExecWith(ctx, host.Execution{Command: []string{"sh", "-c", script}, Deadline: commandDeadline})
	return err
}

// kubectl runs kubectl on this machine.
func (h *hand) kubectl(ctx context.Context, args ...string) error {
	ctx, cancel := context.WithTimeout(ctx, commandDeadline)
	defer cancel()
	return h.bed.Kubectl(ctx, filepath.Join(h.programs, "kubectl"), args...)
}

// attempts is how often the person at the keyboard types a command again that an API server's restart has failed.
const attempts = 5

func (h *hand) again(ctx context.Context, args ...string) error {
	var err error
	for range attempts {
		if err = h.kubectl(ctx, args...); err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Second):
		}
	}
	return err
}

// ready waits until the node says that it runs the new version and is Ready.
func (h *hand) ready(ctx context.Context, name string) error {
	if err := h.again(ctx, "wait", "node/"+name, "--for=jsonpath={.status.nodeInfo.kubeletVersion}="+bed.To, "--timeout=5m"); err != nil {
		return err
	}
	return h.again(ctx, "wait", "node/"+name, "--for=condition=Ready", "--timeout=5m")
}
