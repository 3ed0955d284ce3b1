package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/lab/host"
	"refit.dev/refit/test/bed"
	"refit.dev/refit/test/invariant"
)

// darkFor is how long a host stays off.
const darkFor = time.Second

// Fault 4 on a worker: the power is cut in one step after another of the same upgrade, which goes on by itself each time.
func testPowerCutsOfAWorker(t *testing.T) {
	// With a second worker there is somewhere to drain to.
	s := shape{controlPlanes: 1, workers: 2}
	c := bringUp(t, "power", s)
	c.Expect(c.DeployApp(c.ctx)).To(Succeed())
	w, held := c.watch(s)
	w.Break("worker-1")
	c.start()
	for _, step := range []v1alpha1.StepName{v1alpha1.StepCopyBinaries, v1alpha1.StepContainerd, v1alpha1.StepDrain, v1alpha1.StepKubelet, v1alpha1.StepVerify} {
		c.cutIn("worker-1", step, nil)
	}
	c.complete()
	held()
	c.recovered("worker-1", 5)
}

// Faults 4 and 5 on the only control plane: the power is cut in containerd, twice in the time in which kubeadm's static pods are
// down, the second time with a manifest gone that was to be replaced, as between two renames, and once more after it.
func testPowerCutsOfTheControlPlane(t *testing.T) {
	s := shape{controlPlanes: 1, workers: 1}
	c := bringUp(t, "power-cp", s)
	_, held := c.watch(s)
	c.start()
	c.cutIn("cp-1", v1alpha1.StepContainerd, nil)
	c.cutIn("cp-1", v1alpha1.StepKubeadm+"/window/stop", nil)
	c.cutIn("cp-1", v1alpha1.StepKubeadm+"/window/swap", func(h *host.Host) {
		c.t.Log(c.on(h.Name, "cd /etc/kubernetes/manifests; ls -l; mv kube-controller-manager.yaml /root/hidden-manifest.yaml"))
	})
	c.cutIn("cp-1", v1alpha1.StepKubeadm+"/upgrade", nil)
	c.complete()
	held()
	c.recovered("cp-1", 4)
	c.Expect(c.on("cp-1", "ls /etc/kubernetes/manifests")).To(ContainSubstring("kube-controller-manager.yaml"))
}

// cutIn cuts the power of a node a moment after it began the step, does what is asked for while the node comes up, and returns
// when it runs again.
func (c *cluster) cutIn(node string, step v1alpha1.StepName, then func(*host.Host)) {
	c.t.Helper()
	h := c.host(node)
	c.begun(h, step)
	c.Expect(h.PowerCut(c.ctx)).To(Succeed())
	c.t.Logf("%s power cut of %s in %s", time.Now().Format(time.TimeOnly), node, step)
	pause(c.ctx, darkFor)
	c.Expect(h.PowerOn(c.ctx)).To(Succeed())
	if then != nil {
		then(h)
	}
	c.Expect(h.AwaitBoot(c.ctx)).To(Succeed())
}

// begun returns as soon as the node begins the step, or a part of it such as "kubeadm/window/swap": its journal says so. The
// status would say it too late, and not at all while the only control plane is away.
func (c *cluster) begun(h *host.Host, step v1alpha1.StepName) {
	c.t.Helper()
	script := fmt.Sprintf(`until grep -qsE '"step":"%s","event":"(started|already-done)"' /var/lib/refit/journal/*.jsonl; do sleep 0.05; done`, step)
	begun := time.Now()
	_, err := h.ExecWith(c.ctx, host.Execution{Command: []string{"sh", "-c", script}, Deadline: stepDeadline})
	c.Expect(err).NotTo(HaveOccurred(), "wait for step %s of %s", step, h.Name)
	c.t.Logf("%s %s began %s, after %s", time.Now().Format(time.TimeOnly), h.Name, step, time.Since(begun).Round(time.Second))
}

// recovered checks the cluster after power cuts of a node: it is whole, and the cuts were counted as what they were.
func (c *cluster) recovered(node string, cuts int32) {
	c.t.Helper()
	c.ended(invariant.End{AllAt: bed.To})
	c.everywhereAt(bed.To)
	u, err := c.claim(c.ctx, node)
	c.Expect(err).NotTo(HaveOccurred())
	c.t.Logf("%s: %d failed attempts, %d interruptions for %d power cuts", node, u.Status.Attempts, u.Status.Interruptions, cuts)
	c.Expect(u.Status.Interruptions).To(BeNumerically("<=", cuts), "a cut interrupts once")
	c.Expect(u.Status.Attempts).To(BeZero(), "a power cut is no failure")
	left := strings.TrimSpace(c.on(node, "find / -xdev -name '.*.partial*' -newer /etc/machine-id -path '*refit*' 2>/dev/null || true"))
	c.Expect(left).To(BeEmpty(), "nothing unfinished is left")
}

// pause waits for a time that is part of a fault.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
