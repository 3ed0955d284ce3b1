package e2e

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"refit.dev/refit/api/v1alpha1"
)

// collect writes what explains a failure: the summaries to the test's log, everything into a folder.
func (c *cluster) collect(ctx context.Context) {
	dir := filepath.Join(os.TempDir(), "refit-e2e", strings.ReplaceAll(c.t.Name(), "/", "_")+time.Now().Format("-150405"))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		c.t.Logf("make a folder for what explains the failure: %v", err)
		return
	}
	c.t.Logf("what explains the failure is in %s", dir)
	write := func(name, content string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			c.t.Log(err)
		}
	}
	for _, args := range [][]string{{"status"}, {"nodes", "-o", "wide"}, {"versions"}, {"health"}} {
		out, err := c.bounded(ctx, args...)
		write(args[0]+".txt", out)
		c.t.Logf("refit %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	for _, h := range c.Lab.Hosts() {
		out, _ := c.bounded(ctx, "logs", h.Name)
		write("logs-"+h.Name+".txt", out)
		journal, err := h.Exec(ctx, "sh", "-c", "journalctl -q --no-pager -n 400 -u 'refit-*'; cat /var/lib/refit/journal/*; tail -n +1 /var/lib/refit/logs/*/*.log")
		write("host-"+h.Name+".txt", fmt.Sprintf("%s\n%v", journal, err))
		kubelet, err := h.Exec(ctx, "sh", "-c", "journalctl -q --no-pager -n 1500 -u kubelet -u containerd; crictl ps -a 2>/dev/null")
		write("kubelet-"+h.Name+".txt", fmt.Sprintf("%s\n%v", kubelet, err))
	}
	c.collectObjects(ctx, write)
	c.collectPods(ctx, write)
}

func (c *cluster) bounded(ctx context.Context, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	return c.Refit(ctx, args...)
}

func (c *cluster) collectObjects(ctx context.Context, write func(name, content string)) {
	lists := map[string]client.ObjectList{
		"nodeupgrades": &v1alpha1.NodeUpgradeList{}, "kubernetesupgrades": &v1alpha1.KubernetesUpgradeList{},
		"controlplaneupgrades": &v1alpha1.ControlPlaneUpgradeList{}, "kubernetesversions": &v1alpha1.KubernetesVersionList{},
		"nodes": &corev1.NodeList{}, "pods": &corev1.PodList{},
	}
	for name, list := range lists {
		if err := c.Client.List(ctx, list); err != nil {
			c.t.Logf("list %s: %v", name, err)
			continue
		}
		text, err := yaml.Marshal(list)
		if err != nil {
			c.t.Logf("print %s: %v", name, err)
		}
		write(name+".yaml", string(text))
	}
	var events corev1.EventList
	if err := c.Client.List(ctx, &events); err != nil {
		c.t.Logf("list events: %v", err)
		return
	}
	var text bytes.Buffer
	for _, e := range events.Items {
		fmt.Fprintf(&text, "%s %s %s/%s %s: %s\n", e.LastTimestamp.Format(time.TimeOnly), e.Type, e.InvolvedObject.Kind, e.InvolvedObject.Name,
			e.Reason, e.Message)
	}
	write("events.txt", text.String())
}

// collectPods writes what the managers and upgraders said, also before their last restart.
func (c *cluster) collectPods(ctx context.Context, write func(name, content string)) {
	clients, err := kubernetes.NewForConfig(c.Config)
	if err != nil {
		c.t.Log(err)
		return
	}
	var pods corev1.PodList
	if err := c.Client.List(ctx, &pods, client.InNamespace(v1alpha1.Namespace)); err != nil {
		c.t.Logf("list Refit's pods: %v", err)
		return
	}
	for _, p := range pods.Items {
		if p.Labels["app.kubernetes.io/name"] != "refit" {
			continue
		}
		for _, previous := range []bool{false, true} {
			log, err := clients.CoreV1().Pods(p.Namespace).GetLogs(p.Name, &corev1.PodLogOptions{Previous: previous}).DoRaw(ctx)
			if err == nil {
				write(fmt.Sprintf("%s-%s-previous-%t.log", p.Name, p.Spec.NodeName, previous), string(log))
			}
		}
	}
}
