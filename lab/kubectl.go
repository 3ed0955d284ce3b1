package lab

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"refit.dev/refit/lab/parts"
)

// readyDeadline bounds the wait for nodes and the cluster's own pods.
const readyDeadline = 4 * time.Minute

// awaitReady writes the kubeconfig and waits, with it, until the nodes and the static pods of the control planes are ready and the name server
// answers: it only does once pods reach the API by its service address, so this proves the pod network, too.
func (b *bringUp) awaitReady(ctx context.Context) error {
	if err := b.writeKubeconfig(ctx); err != nil {
		return err
	}
	timeout := "--timeout=" + readyDeadline.String()
	static := b.staticPods()
	for _, wait := range []struct {
		what string
		args []string
	}{
		{"waiting for the nodes", []string{"wait", "--for=condition=Ready", "nodes", "--all", timeout}},
		{"waiting for kube-proxy", []string{"-n", "kube-system", "rollout", "status", "daemonset/kube-proxy", timeout}},
		{"waiting for the name server", []string{"-n", "kube-system", "rollout", "status", "deployment/coredns", timeout}},
		{"waiting for the static pods to be seen", append([]string{"-n", "kube-system", "wait", "--for=create", timeout}, static...)},
		{"waiting for the static pods", append([]string{"-n", "kube-system", "wait", "--for=condition=Ready", timeout}, static...)},
	} {
		err := b.time.Do(wait.what, costReady/5, func() error {
			_, err := b.kubectl(ctx, wait.args...)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// staticPods are those of the control planes, as kubectl names them.
func (b *bringUp) staticPods() []string {
	var pods []string
	for _, h := range b.lab.ControlPlanes() {
		for _, component := range []string{"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler"} {
			pods = append(pods, "pod/"+component+"-"+h.Name)
		}
	}
	return pods
}

// writeKubeconfig makes the file for kubectl on this machine out of the one that kubeadm made on the first host.
func (b *bringUp) writeKubeconfig(ctx context.Context) error {
	text, err := b.lab.hosts[0].Exec(ctx, "cat", "/etc/kubernetes/admin.conf")
	if err != nil {
		return err
	}
	text = strings.ReplaceAll(text, "https://"+b.cluster.Endpoint, "https://"+b.lab.APIAddress())
	path := b.lab.Kubeconfig()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("make the lab's folder: %w", err)
	}
	if err := os.WriteFile(path+".new", []byte(text+"\n"), 0o600); err != nil {
		return fmt.Errorf("write the kubeconfig: %w", err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		return fmt.Errorf("write the kubeconfig: %w", err)
	}
	return nil
}

func (b *bringUp) kubectl(ctx context.Context, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, readyDeadline+time.Minute)
	defer cancel()
	program := b.store.Path(parts.Kubernetes(b.Version), "kubectl")
	out, err := exec.CommandContext(ctx, program, append([]string{"--kubeconfig", b.lab.Kubeconfig()}, args...)...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("kubectl %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(string(out)))
	}
	return string(out), nil
}
