package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/test/bed"
	"refit.dev/refit/test/invariant"
)

// Versions on the way, besides bed.From and bed.To.
const (
	twoMinorsBack = "v1.34.4"
	earlierPatch  = "v1.36.1"
)

// TestPaths takes one cluster over two minors, and back to an earlier patch version.
func TestPaths(t *testing.T) {
	if !*all {
		t.Skip("needs two more versions of Kubernetes to be built; -all runs it")
	}
	s := shape{controlPlanes: 1, workers: 1, from: twoMinorsBack, to: []string{bed.From, earlierPatch, bed.To}}
	c := bringUp(t, "paths", s)
	_, held := c.watch(s)
	passed := t.Run("two minors are two hops of the control plane and one of a worker", func(t *testing.T) { c.as(t).twoMinors() }) &&
		t.Run("back to an earlier patch version", func(t *testing.T) { c.as(t).earlierPatch() })
	if passed {
		held()
	}
}

func (c *cluster) twoMinors() {
	c.t.Log(c.refit("plan", bed.To))
	c.start()
	c.complete()
	c.ended(invariant.End{From: twoMinorsBack, AllAt: bed.To})
	c.everywhereAt(bed.To)
	c.Expect(c.upgrades("cp-1")).To(Equal(2), "a control plane is taken through each minor")
	c.Expect(c.upgrades("worker-1")).To(Equal(1), "a worker goes to the last at once")
}

// upgrades counts how often kubeadm upgraded a node.
func (c *cluster) upgrades(node string) int {
	c.t.Helper()
	return strings.Count(c.on(node, "cat /var/lib/refit/journal/*.jsonl"), fmt.Sprintf(`"step":"%s","event":"started"`, v1alpha1.StepKubeadm))
}

func (c *cluster) earlierPatch() {
	said := c.refused(1, "upgrade", bed.From, "--yes")
	c.t.Log(said)
	c.Expect(said).To(ContainSubstring(bed.From))
	c.t.Log(c.refit("upgrade", earlierPatch, "--yes"))
	c.complete()
	c.ended(invariant.End{From: bed.To, To: earlierPatch, AllAt: earlierPatch})
	c.everywhereAt(earlierPatch)
}

// unaskedFor is how long nothing may happen that nobody has asked for.
const unaskedFor = 15 * time.Second

// networkManifests stand for a network plugin's: settings, and a Job that must succeed.
const networkManifests = `apiVersion: v1
kind: ConfigMap
metadata: {name: network-settings, namespace: kube-system}
data: {mtu: "1450"}
---
apiVersion: batch/v1
kind: Job
metadata: {name: network-migration, namespace: kube-system}
spec:
  template:
    spec:
      restartPolicy: Never
      tolerations: [{operator: Exists}]
      containers: [{name: migrate, image: "registry.k8s.io/pause:%s", command: [/pause, -v]}]
`

// nameNetworking has the version bring network manifests along.
func (c *cluster) nameNetworking(version string) {
	c.t.Helper()
	var v v1alpha1.KubernetesVersion
	c.Expect(c.Client.Get(c.ctx, client.ObjectKey{Name: version}, &v)).To(Succeed())
	manifests := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "network", Namespace: v1alpha1.Namespace},
		Data: map[string]string{"network.yaml": fmt.Sprintf(networkManifests, v.Component("pause"))}}
	c.Expect(c.Client.Create(c.ctx, manifests)).To(Succeed())
	v.Spec.Networking = &v1alpha1.Networking{ConfigMap: v1alpha1.ConfigMapReference{Namespace: manifests.Namespace, Name: manifests.Name}}
	c.Expect(c.Client.Update(c.ctx, &v)).To(Succeed())
}

// networked waits until what the networking step applies is there and has succeeded.
func (c *cluster) networked() {
	c.t.Helper()
	c.until("the networking step to be done", soon, func(ctx context.Context) (bool, string, error) {
		u, err := c.upgrade(ctx)
		if err != nil {
			return false, "", err
		}
		return u.Status.NetworkedVersion == bed.To, string(u.Status.State) + ": " + u.Status.Waiting, nil
	})
	var settings corev1.ConfigMap
	c.Expect(c.Client.Get(c.ctx, client.ObjectKey{Namespace: "kube-system", Name: "network-settings"}, &settings)).To(Succeed())
	c.Expect(settings.Data).To(HaveKeyWithValue("mtu", "1450"))
	var job batchv1.Job
	c.Expect(c.Client.Get(c.ctx, client.ObjectKey{Namespace: "kube-system", Name: "network-migration"}, &job)).To(Succeed())
	c.Expect(job.Status.Succeeded).To(BeEquivalentTo(1))
}

// TestManual: in Manual mode each step waits until it is asked for, the networking step of a version that names one as well.
func TestManual(t *testing.T) {
	s := shape{controlPlanes: 1, workers: 1}
	c := bringUp(t, "manual", s)
	_, held := c.watch(s)
	c.nameNetworking(bed.To)
	c.start("--mode", string(v1alpha1.ModeManual))
	for _, step := range [][]string{{"control-plane", "cp-1"}, {"networking"}, {"kubelet", "worker-1"}} {
		before := c.versions()
		c.Consistently(c.versions).WithTimeout(unaskedFor).WithPolling(every).Should(Equal(before))
		c.t.Log(c.refit(append([]string{"step"}, step...)...))
		if len(step) == 1 {
			c.networked()
		} else {
			c.until(step[1]+" to be at "+bed.To, upgradeDeadline, func(context.Context) (bool, string, error) {
				is := c.versions()[step[1]]
				return is == bed.To, is, nil
			})
		}
	}
	c.complete()
	held()
	c.ended(invariant.End{AllAt: bed.To})
	c.everywhereAt(bed.To)
}

// versions are the nodes' kubelet versions.
func (c *cluster) versions() map[string]string {
	c.t.Helper()
	out := map[string]string{}
	for _, h := range c.Lab.Hosts() {
		out[h.Name] = c.node(h.Name).Status.NodeInfo.KubeletVersion
	}
	return out
}
