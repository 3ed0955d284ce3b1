package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/test/bed"
	"refit.dev/refit/test/invariant"
)

// Versions on the way, besides bed.From and bed.To.
const (
	twoMinorsBack = "v1.34.4"
	earlierPatch  = "v1.36.1"
)

// TestPaths takes one cluster through versions in every way but the plain one: over two minors, back to an earlier patch version,
// and step by step as a person asks.
func TestPaths(t *testing.T) {
	if !*all {
		t.Skip("needs two more versions of Kubernetes to be built; -all runs it")
	}
	s := shape{controlPlanes: 1, workers: 1, from: twoMinorsBack, to: []string{bed.From, earlierPatch, bed.To}}
	c := bringUp(t, "paths", s)
	_, held := c.watch(s)
	passed := t.Run("two minors are two hops, and a worker is drained once", func(t *testing.T) { c.as(t).twoMinors() }) &&
		t.Run("back to an earlier patch version", func(t *testing.T) { c.as(t).earlierPatch() }) &&
		t.Run("in Manual mode each step waits until it is asked for", func(t *testing.T) { c.as(t).stepByStep() })
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
	c.Expect(c.drains("cp-1")).To(Equal(2), "a control plane is taken through each minor")
	c.Expect(c.drains("worker-1")).To(Equal(1), "a worker goes to the last at once")
}

// drains counts how often a node was drained.
func (c *cluster) drains(node string) int {
	c.t.Helper()
	return strings.Count(c.on(node, "cat /var/lib/refit/journal/*.jsonl"), fmt.Sprintf(`"step":"%s","event":"started"`, v1alpha1.StepDrain))
}

func (c *cluster) earlierPatch() {
	said := c.refused(3, "upgrade", bed.From, "--yes")
	c.t.Log(said)
	c.Expect(said).To(ContainSubstring(bed.From))
	c.t.Log(c.refit("upgrade", earlierPatch, "--yes"))
	c.complete()
	c.ended(invariant.End{From: bed.To, To: earlierPatch, AllAt: earlierPatch})
	c.everywhereAt(earlierPatch)
}

// unaskedFor is how long nothing may happen that nobody has asked for.
const unaskedFor = 15 * time.Second

func (c *cluster) stepByStep() {
	c.start("--mode", string(v1alpha1.ModeManual))
	for _, step := range [][]string{{"control-plane", "cp-1"}, {"networking"}, {"kubelet", "worker-1"}} {
		before := c.versions()
		c.Consistently(c.versions).WithTimeout(unaskedFor).WithPolling(every).Should(Equal(before))
		c.t.Log(c.refit(append([]string{"step"}, step...)...))
		if len(step) > 1 {
			c.until(step[1]+" to be at "+bed.To, upgradeDeadline, func(context.Context) (bool, string, error) {
				is := c.versions()[step[1]]
				return is == bed.To, is, nil
			})
		}
	}
	c.complete()
	c.ended(invariant.End{From: earlierPatch, AllAt: bed.To})
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
