package e2e

import (
	"context"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/test/bed"
	"refit.dev/refit/test/invariant"
)

// heldFor is how long nothing may be started while a fault lasts.
const heldFor = 30 * time.Second

// Fault 8: one etcd member of three is down. No control plane is started, and the member is named; once it is back, the upgrade
// goes through.
func testEtcdMemberDown(t *testing.T) {
	s := shape{controlPlanes: 3}
	c := bringUp(t, "etcd", s)
	_, held := c.watch(s)
	c.on("cp-3", "mv /etc/kubernetes/manifests/etcd.yaml /root/etcd.yaml")
	c.until("the member to be missed", soon, func(ctx context.Context) (bool, string, error) {
		out, err := c.Refit(ctx, "health")
		return exitCode(err) == 3, out, nil
	})
	said := c.refused(3, "upgrade", bed.To, "--yes")
	c.t.Log(said)
	c.Expect(said).To(And(ContainSubstring("etcd"), ContainSubstring("cp-3")))

	// Made by hand, past the command's own check, the upgrade waits.
	c.Expect(c.Client.Create(c.ctx, &v1alpha1.KubernetesUpgrade{ObjectMeta: metav1.ObjectMeta{Name: "by-hand"},
		Spec: v1alpha1.KubernetesUpgradeSpec{ToVersion: bed.To}})).To(Succeed())
	c.until("the reason to name the member", soon, func(ctx context.Context) (bool, string, error) {
		u, err := c.upgrade(ctx)
		if err != nil {
			return false, "", err
		}
		matches, err := And(ContainSubstring("etcd"), ContainSubstring("cp-3")).Match(u.Status.Waiting)
		return matches, u.Status.Waiting, err
	})
	c.Consistently(func() (int, error) { return c.begunControlPlanes() }).WithTimeout(heldFor).WithPolling(every).Should(BeZero())

	c.on("cp-3", "mv /root/etcd.yaml /etc/kubernetes/manifests/etcd.yaml")
	c.complete()
	held()
	c.ended(invariant.End{AllAt: bed.To})
	c.everywhereAt(bed.To)
	c.snapshotsAre(3)
}

// begunControlPlanes counts the control planes that something was done to.
func (c *cluster) begunControlPlanes() (int, error) {
	n := 0
	for _, cp := range c.Lab.ControlPlanes() {
		u, err := c.claim(c.ctx, cp.Name)
		if err != nil {
			return 0, err
		}
		if u != nil && u.Status.Phase == v1alpha1.NodeUpgrading {
			n++
		}
	}
	return n, nil
}
