package e2e

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/test/bed"
)

// every is how often objects are looked at.
const every = 500 * time.Millisecond

// start has Refit upgrade the cluster, and does not wait.
func (c *cluster) start(args ...string) {
	c.t.Helper()
	c.t.Log(c.refit(append([]string{"upgrade", bed.To, "--yes"}, args...)...))
}

// until looks until the condition holds. An API server that is away is asked again: a single control plane restarts.
func (c *cluster) until(what string, within time.Duration, holds func(context.Context) (bool, string, error)) {
	c.t.Helper()
	begun, last := time.Now(), ""
	err := wait.PollUntilContextTimeout(c.ctx, every, within, true, func(ctx context.Context) (bool, error) {
		ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
		ok, seen, err := holds(ctx)
		if err != nil {
			seen = err.Error()
		}
		if seen != last {
			c.t.Logf("%s waiting for %s: %s", time.Now().Format(time.TimeOnly), what, seen)
			last = seen
		}
		return ok && err == nil, nil
	})
	c.Expect(err).NotTo(HaveOccurred(), "wait for %s: last seen: %s", what, last)
	c.t.Logf("%s after %s", what, time.Since(begun).Round(time.Second))
}

// upgrade is the latest KubernetesUpgrade.
func (c *cluster) upgrade(ctx context.Context) (*v1alpha1.KubernetesUpgrade, error) {
	var list v1alpha1.KubernetesUpgradeList
	if err := c.Client.List(ctx, &list); err != nil {
		return nil, err
	}
	var latest *v1alpha1.KubernetesUpgrade
	for i := range list.Items {
		if u := &list.Items[i]; latest == nil || latest.CreationTimestamp.Before(&u.CreationTimestamp) {
			latest = u
		}
	}
	if latest == nil {
		return nil, errors.New("there is no upgrade")
	}
	return latest, nil
}

// untilState waits until the upgrade is in the state, and returns what it waits for. Where that is its completion, failure ends
// the wait at once.
func (c *cluster) untilState(state v1alpha1.UpgradeState) string {
	c.t.Helper()
	waiting, stopped := "", false
	c.until("the upgrade to be "+string(state), upgradeDeadline, func(ctx context.Context) (bool, string, error) {
		u, err := c.upgrade(ctx)
		if err != nil {
			return false, "", err
		}
		waiting = u.Status.Waiting
		resumed := u.Status.Resumed == u.Spec.Resume
		stopped = resumed && u.Status.State == v1alpha1.StateUpgradeFailed && state == v1alpha1.StateUpgradeComplete
		return stopped || resumed && u.Status.State == state, fmt.Sprintf("%s: %s", u.Status.State, waiting), nil
	})
	c.Expect(stopped).To(BeFalse(), "the upgrade failed: %s", waiting)
	return waiting
}

// complete waits until the upgrade is.
func (c *cluster) complete() {
	c.t.Helper()
	c.untilState(v1alpha1.StateUpgradeComplete)
}

// claim is the latest NodeUpgrade of a node, nil where there is none yet.
func (c *cluster) claim(ctx context.Context, node string) (*v1alpha1.NodeUpgrade, error) {
	var list v1alpha1.NodeUpgradeList
	if err := c.Client.List(ctx, &list, client.InNamespace(v1alpha1.Namespace)); err != nil {
		return nil, err
	}
	var latest *v1alpha1.NodeUpgrade
	for i := range list.Items {
		if u := &list.Items[i]; u.Spec.Machine.Name == node && (latest == nil || latest.CreationTimestamp.Before(&u.CreationTimestamp)) {
			latest = u
		}
	}
	return latest, nil
}

// untilClaim waits until the NodeUpgrade of a node is as told.
func (c *cluster) untilClaim(node, what string, holds func(*v1alpha1.NodeUpgrade) bool) *v1alpha1.NodeUpgrade {
	c.t.Helper()
	var found *v1alpha1.NodeUpgrade
	c.until(node+" to be "+what, upgradeDeadline, func(ctx context.Context) (bool, string, error) {
		u, err := c.claim(ctx, node)
		if u == nil || err != nil {
			return false, "no NodeUpgrade yet", err
		}
		found = u
		return holds(u), fmt.Sprintf("%s, step %s", u.Status.Phase, u.Status.Step), nil
	})
	return found
}

// untilPhase waits until the NodeUpgrade of a node is in the phase.
func (c *cluster) untilPhase(node string, phase v1alpha1.NodeUpgradePhase) *v1alpha1.NodeUpgrade {
	c.t.Helper()
	return c.untilClaim(node, string(phase), func(u *v1alpha1.NodeUpgrade) bool { return u.Status.Phase == phase })
}

// node is a Node.
func (c *cluster) node(name string) *corev1.Node {
	c.t.Helper()
	var n corev1.Node
	c.Eventually(func() error { return c.Client.Get(c.ctx, client.ObjectKey{Name: name}, &n) }).WithTimeout(soon).Should(Succeed())
	return &n
}

// exitCode is the exit code in the error of a program that ran, -1 where it did not run.
func exitCode(err error) int {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode()
	}
	return -1
}
