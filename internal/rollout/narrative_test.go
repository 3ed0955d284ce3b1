package rollout_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/util/intstr"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/rollout"
	"refit.dev/refit/internal/snapshot"
	"refit.dev/refit/internal/snapshot/fixture"
)

var update = flag.Bool("update", false, "write the golden files anew")

func golden(t *testing.T, name, got string) {
	t.Helper()
	g := NewWithT(t)
	path := filepath.Join("testdata", name+".golden")
	if *update {
		g.Expect(os.MkdirAll("testdata", 0o755)).To(Succeed())
		g.Expect(os.WriteFile(path, []byte(got), 0o644)).To(Succeed())
	}
	want, err := os.ReadFile(path)
	g.Expect(err).NotTo(HaveOccurred(), "run with -update to write it")
	g.Expect(got).To(Equal(string(want)), "run with -update if this is meant")
}

// narrator writes down what a world does.
type narrator struct {
	*world
	strings.Builder
	from string
}

func narrate(w *world) *narrator {
	n := &narrator{world: w}
	w.onState = func(s v1alpha1.UpgradeState) { n.line("state is %s", s) }
	w.onAction = func(a rollout.Action, _ *snapshot.Cluster) { n.line("%s", words(a)) }
	return n
}

func (n *narrator) line(format string, args ...any) {
	at := fmt.Sprintf("%4d s", int(n.Now.Sub(fixture.Now).Seconds()))
	if at == n.from {
		at = "      "
	} else {
		n.from = at
	}
	fmt.Fprintf(n, "%s  %s\n", at, fmt.Sprintf(format, args...))
}

func words(a rollout.Action) string {
	switch a.Kind {
	case rollout.ApplyControlPlane:
		var names []string
		for _, m := range a.ControlPlane.MachinesRequireUpgrade {
			names = append(names, m.Name)
		}
		allowed := "all of them may begin"
		if a.ControlPlane.Allowed != nil {
			allowed = fmt.Sprintf("of which %v may begin", *a.ControlPlane.Allowed)
		}
		if a.ControlPlane.Paused {
			allowed = "none may begin"
		}
		return fmt.Sprintf("%s %s: %s, %s", a.Kind, a.Version, strings.Join(names, " "), allowed)
	case rollout.RunNetworking:
		return fmt.Sprintf("%s %s", a.Kind, a.Version)
	}
	first := ""
	if a.First {
		first = " first"
	}
	return fmt.Sprintf("%s %s to %s%s", a.Kind, a.Node, a.Version, first)
}

// play lets rounds pass until nothing changes for a while, and notes what is waited for.
func (n *narrator) play(rounds int) *narrator {
	waiting := ""
	for range rounds {
		before := n.Len()
		n.round()
		if why := n.upgrade.Status.Waiting; why != waiting && n.Len() == before {
			n.line("waits: %s", why)
			waiting = why
		}
	}
	return n
}

// ending adds what became of the nodes.
func (n *narrator) ending() string {
	n.WriteString("\n")
	nodes := slices.Clone(n.Nodes)
	for _, node := range nodes {
		cordon := ""
		if node.Cordoned {
			cordon = ", cordoned"
		}
		fmt.Fprintf(n, "%s: %s%s\n", node.Name, node.KubeletVersion, cordon)
	}
	c := n.upgrade.Status.Nodes
	fmt.Fprintf(n, "%d of %d upgraded; %s\n", c.Upgraded, c.Total, n.upgrade.Status.State)
	return n.String()
}

func plan(c *snapshot.Cluster, u *v1alpha1.KubernetesUpgrade, spec v1alpha1.RolloutPlanSpec) {
	p := v1alpha1.RolloutPlan{Spec: spec}
	p.Name = "plan"
	c.Plans = append(c.Plans, p)
	u.Spec.Plan = p.Name
}

func percent(s string) *intstr.IntOrString { v := intstr.Parse(s); return &v }

func TestNarratives(t *testing.T) {
	t.Run("three control planes and two workers by the default plan", func(t *testing.T) {
		c, u := fixture.Cluster(3, 2, "v1.35.4"), fixture.Upgrade("v1.36.3")
		c.Versions[3].Spec.Networking = &v1alpha1.Networking{}
		golden(t, "three-and-two", narrate(newWorld(c, u)).play(70).ending())
	})
	t.Run("a single node", func(t *testing.T) {
		golden(t, "single", narrate(newWorld(fixture.Cluster(1, 0, "v1.35.4"), fixture.Upgrade("v1.36.3"))).play(20).ending())
	})
	t.Run("ten workers, a third at once, one of them cordoned by a person", func(t *testing.T) {
		c, u := fixture.Cluster(1, 10, "v1.35.4"), fixture.Upgrade("v1.36.3")
		plan(c, u, v1alpha1.RolloutPlanSpec{MaxUnavailable: percent("33%"), StagingParallelism: 4})
		c.Node("w-7").Cordoned = true
		golden(t, "cordoned", narrate(newWorld(c, u)).play(60).ending())
	})
	t.Run("two minors, workers drained once, networking first", func(t *testing.T) {
		c, u := fixture.Cluster(2, 1, "v1.34.4"), fixture.Upgrade("v1.36.3")
		c.Versions[3].Spec.Networking = &v1alpha1.Networking{}
		plan(c, u, v1alpha1.RolloutPlanSpec{Networking: v1alpha1.NetworkingFirst})
		golden(t, "two-minors", narrate(newWorld(c, u)).play(70).ending())
	})
	t.Run("a worker fails, is repaired, and the upgrade resumed", func(t *testing.T) {
		c, u := fixture.Cluster(1, 3, "v1.35.4"), fixture.Upgrade("v1.36.3")
		n := narrate(newWorld(c, u))
		n.until(60, func() bool { nu := n.claim("w-1-v1.36.3"); return nu != nil && nu.Status.Step == v1alpha1.StepKubelet })
		n.tick(n.claim("w-1-v1.36.3"), fails)
		n.line("w-1 fails at its kubelet")
		n.play(4)
		u.Spec.Resume = 1
		n.line("a person says resume")
		golden(t, "failure-and-resume", n.play(30).ending())
	})
	t.Run("by hand, step by step", func(t *testing.T) {
		c, u := fixture.Cluster(2, 1, "v1.35.4"), fixture.Upgrade("v1.36.3")
		u.Spec.Mode = v1alpha1.ModeManual
		n := narrate(newWorld(c, u)).play(4)
		for _, r := range []v1alpha1.StepRequest{
			{Step: v1alpha1.RequestControlPlane, Node: "cp-2"}, {Step: v1alpha1.RequestNetworking},
			{Step: v1alpha1.RequestControlPlane, Node: "cp-1"}, {Step: v1alpha1.RequestKubelet, Node: "w-1"},
		} {
			u.Spec.Requests = append(u.Spec.Requests, r)
			n.line("a person asks for %s %s", r.Step, r.Node)
			n.play(12)
		}
		golden(t, "manual", n.ending())
	})
	t.Run("paused, then aborted, then resumed", func(t *testing.T) {
		c, u := fixture.Cluster(3, 2, "v1.35.4"), fixture.Upgrade("v1.36.3")
		n := narrate(newWorld(c, u)).play(9)
		u.Spec.Paused = true
		n.line("a person says pause")
		n.play(8)
		u.Spec.Abort = true
		n.line("a person says abort")
		n.play(4)
		u.Spec.Abort, u.Spec.Paused, u.Spec.Resume = false, false, 1
		n.line("a person says resume")
		golden(t, "pause-abort-resume", n.play(50).ending())
	})
	t.Run("a rollback, aborted twice and resumed, then turned around and aborted twice, and resumed", func(t *testing.T) {
		for name, turned := range map[string]bool{"rollback-resumed": false, "rollback-turned-around": true} {
			c := fixture.Cluster(3, 4, "v1.36.3")
			n := narrate(newWorld(c, fixture.Upgrade("v1.36.1")))
			n.abortAt("cp-2", "v1.36.1")
			n.resume()
			n.abortAt("w-2", "v1.36.1")
			if turned {
				n.line("a person says upgrade v1.36.3 instead")
				n.follow("v1.36.3")
				n.abortAt("cp-2", "v1.36.3")
			}
			n.resume()
			golden(t, name, n.play(80).ending())
		}
	})
}

// abortAt aborts the upgrade while it is at work on a node.
func (n *narrator) abortAt(node, version string) {
	n.until(100, func() bool {
		nu := n.claim(rollout.ClaimName(node, version))
		return nu != nil && nu.Labels[v1alpha1.LabelUpgrade] == n.upgrade.Name && nu.Status.Step == v1alpha1.StepKubelet
	})
	n.upgrade.Spec.Abort = true
	n.line("a person says abort, while %s is at step kubelet", node)
	n.play(6)
}

func (n *narrator) resume() {
	n.upgrade.Spec.Abort = false
	n.upgrade.Spec.Resume++
	n.line("a person says resume")
}
