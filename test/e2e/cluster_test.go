package e2e

import (
	"cmp"
	"context"
	"fmt"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"refit.dev/refit/lab"
	"refit.dev/refit/lab/host"
	"refit.dev/refit/test/bed"
	"refit.dev/refit/test/invariant"
)

// deadlines of what tests wait for, several times what it takes on two idle cores.
const (
	prepareDeadline = time.Hour // the first time, every program is built
	bringUpDeadline = 15 * time.Minute
	upgradeDeadline = 20 * time.Minute
	stepDeadline    = 10 * time.Minute
	soon            = 2 * time.Minute
)

// cluster is the real cluster of one test, with Refit on it.
type cluster struct {
	*bed.Bed
	*WithT
	t   *testing.T
	ctx context.Context
}

// shape is what a cluster looks like, and what is checked about it all the time.
type shape struct {
	controlPlanes, workers int
	// maxUnavailable is the greatest number of workers that may be out of service; 0 means 1.
	maxUnavailable int
	// cordoned are the nodes that a person cordons before.
	cordoned []string
	// from is the version to begin at, to those that are made known; default bed.From and bed.To.
	from string
	to   []string
	// noImport leaves it to the test to make the version known.
	noImport bool
}

// bringUp makes a cluster, which is removed when the test ends. What happened to it is written down first if the test failed.
func bringUp(t *testing.T, name string, s shape) *cluster {
	t.Helper()
	g := NewWithT(telling{t})
	o := bed.Options{Name: "e2e-" + name, ControlPlanes: s.controlPlanes, Workers: s.workers, From: s.from, To: s.to, NoImport: s.noImport, Log: t.Output()}
	preparing, cancel := context.WithTimeout(t.Context(), prepareDeadline)
	defer cancel()
	g.Expect(bed.Prepare(preparing, o)).To(Succeed())
	ctx, cancel := context.WithTimeout(t.Context(), bringUpDeadline)
	defer cancel()
	_, err := lab.Down(ctx, "e2e-"+name, "")
	g.Expect(err).NotTo(HaveOccurred(), "remove what a run that was cut off has left")
	b, err := bed.Up(ctx, o)
	g.Expect(err).NotTo(HaveOccurred(), "bring up the cluster")
	c := &cluster{Bed: b, WithT: g, t: t, ctx: t.Context()}
	t.Cleanup(c.takeDown)
	return c
}

// as is the cluster for a subtest.
func (c *cluster) as(t *testing.T) *cluster {
	return &cluster{Bed: c.Bed, WithT: NewWithT(telling{t}), t: t, ctx: t.Context()}
}

// takeDown removes the cluster, and before that collects what explains a failure.
func (c *cluster) takeDown() {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.ctx), 5*time.Minute)
	defer cancel()
	var failed error
	if c.t.Failed() {
		failed = fmt.Errorf("%s failed", c.t.Name())
		c.collect(ctx)
	}
	if err := c.Close(ctx, failed); err != nil {
		c.t.Log(err)
	}
}

// watch begins to check the invariants; the returned function ends that and fails the test where one did not hold.
func (c *cluster) watch(s shape) (*invariant.Watcher, func()) {
	w := invariant.Start(c.ctx, c.Client, invariant.Limits{MaxUnavailable: max(s.maxUnavailable, 1), Cordoned: s.cordoned})
	return w, func() {
		c.t.Helper()
		violations, err := w.Stop()
		c.Expect(err).NotTo(HaveOccurred())
		c.Expect(violations).To(BeEmpty(), "the invariants held all the time")
		c.t.Logf("at most %d workers were out of service at once", w.MostOut())
	}
}

// ended checks what must hold at the end.
func (c *cluster) ended(e invariant.End) {
	c.t.Helper()
	e.From, e.To = cmp.Or(e.From, bed.From), cmp.Or(e.To, bed.To)
	c.Eventually(func() ([]string, error) { return e.Check(c.ctx, c.Client) }).WithTimeout(soon).WithPolling(time.Second).
		Should(BeEmpty(), "what must hold at the end")
}

// host is a host by its name.
func (c *cluster) host(name string) *host.Host {
	c.t.Helper()
	h, err := c.Lab.Host(name)
	c.Expect(err).NotTo(HaveOccurred())
	return h
}

// on runs a shell script on a host.
func (c *cluster) on(name, script string) string {
	c.t.Helper()
	out, err := c.host(name).Exec(c.ctx, "sh", "-ec", script)
	c.Expect(err).NotTo(HaveOccurred())
	return out
}

// refit runs the CLI, which must succeed.
func (c *cluster) refit(args ...string) string {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.ctx, 5*time.Minute)
	defer cancel()
	out, err := c.Refit(ctx, args...)
	c.Expect(err).NotTo(HaveOccurred(), out)
	return out
}

// refused runs the CLI, which must end with the exit code, and returns what it said.
func (c *cluster) refused(code int, args ...string) string {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.ctx, 5*time.Minute)
	defer cancel()
	out, err := c.Refit(ctx, args...)
	c.Expect(err).To(HaveOccurred(), out)
	c.Expect(exitCode(err)).To(Equal(code), out)
	return out
}
