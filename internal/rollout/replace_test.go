package rollout_test

import (
	"slices"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/rollout"
	"refit.dev/refit/internal/snapshot"
	"refit.dev/refit/internal/snapshot/fixture"
)

// remove deletes a node.
func (w *world) remove(name string) snapshot.Node {
	gone := *w.Node(name)
	w.Nodes = slices.DeleteFunc(w.Nodes, func(n snapshot.Node) bool { return n.Name == name })
	return gone
}

// join adds another machine like one that is gone.
func (w *world) join(like snapshot.Node, name, version string) {
	like.Name, like.UID, like.KubeletVersion, like.Ready, like.Cordoned, like.CordonedBy = name, "another-"+name, version, true, false, ""
	w.Nodes = append(w.Nodes, like)
}

func TestAWorkerIsReplaced(t *testing.T) {
	for _, when := range []struct {
		name  string
		holds func(*v1alpha1.NodeUpgrade) bool
		fails bool
	}{
		{"while it is staged", func(nu *v1alpha1.NodeUpgrade) bool { return nu.Status.Phase == v1alpha1.NodeStaged }, false},
		{"while it is in flight", func(nu *v1alpha1.NodeUpgrade) bool { return nu.Status.Step == v1alpha1.StepKubelet }, false},
		{"after it failed", func(nu *v1alpha1.NodeUpgrade) bool { return nu.Status.Step == v1alpha1.StepKubelet }, true},
	} {
		for _, by := range []struct {
			name, node, version string
			does                []rollout.ActionKind
		}{
			{"nothing", "", "", nil},
			{"a machine of the same name at the old version", "w-2", "v1.35.4", []rollout.ActionKind{rollout.Forget, rollout.Stage, rollout.Start}},
			{"a machine of the same name at the new version", "w-2", "v1.36.3", nil},
			{"a machine of another name at the old version", "w-9", "v1.35.4", []rollout.ActionKind{rollout.Stage, rollout.Start}},
			{"a machine of another name at the new version", "w-9", "v1.36.3", nil},
		} {
			t.Run(when.name+", by "+by.name, func(t *testing.T) {
				g := NewWithT(t)
				c, u := fixture.Cluster(1, 3, "v1.35.4"), fixture.Upgrade("v1.36.3")
				w := newWorld(c, u)
				g.Expect(w.until(60, func() bool { nu := w.claim("w-2-v1.36.3"); return nu != nil && when.holds(nu) })).To(BeTrue())
				if when.fails {
					w.tick(w.claim("w-2-v1.36.3"), fails)
					g.Expect(w.until(3, func() bool { return u.Status.State == v1alpha1.StateUpgradeFailed })).To(BeTrue())
					g.Expect(u.Status.Waiting).To(HavePrefix("w-2 failed at step kubelet"))
				}
				gone := w.remove("w-2")
				if by.node != "" {
					w.join(gone, by.node, by.version)
				}
				var did []rollout.ActionKind
				w.onAction = func(a rollout.Action, _ *snapshot.Cluster) {
					if a.Node == by.node && a.Kind != rollout.Abort { // a claim on the machine before may be told to end
						did = append(did, a.Kind)
					}
				}
				if when.fails {
					w.round()
					w.round()
					g.Expect(u.Status.State).To(Equal(v1alpha1.StateUpgradeFailed), "it goes on by a person's word alone")
					g.Expect(u.Status.Waiting).To(Equal("nothing stops it any more: the nodes that did are back, gone, replaced or left out. `refit resume` goes on"))
					g.Expect(did).To(BeEmpty())
					u.Spec.Resume++
				}
				g.Expect(w.until(60, w.complete)).To(BeTrue(), "%s: %s", u.Status.State, u.Status.Waiting)
				g.Expect(did).To(Equal(by.does))
				for i := range w.Nodes {
					g.Expect(w.Nodes[i].KubeletVersion).To(Equal("v1.36.3"))
				}
			})
		}
	}
}

// What is said of a stopped upgrade is so: a node that is still failed is named, whoever joins meanwhile, and so is what else stops it.
func TestWhatIsSaidOfAStoppedUpgradeIsSo(t *testing.T) {
	stopped := func(t *testing.T, spec v1alpha1.RolloutPlanSpec, reason string, failing ...string) (*WithT, *world) {
		g := NewWithT(t)
		c, u := zones(4), fixture.Upgrade("v1.36.3")
		spec.StagingParallelism = 20
		plan(c, u, spec)
		w := newWorld(c, u)
		w.failing = failing
		w.reach(g, "a stop", func() bool { return u.Status.State == v1alpha1.StateUpgradeFailed })
		g.Expect(ready(u.Status).Reason).To(Equal(reason))
		return g, w
	}
	t.Run("a node joins", func(t *testing.T) {
		g, w := stopped(t, v1alpha1.RolloutPlanSpec{FailureBudget: number(1), MaxUnavailable: number(2)}, rollout.ReasonNodesSkipped, "w-2")
		w.join(*w.Node("w-1"), "w-9", "v1.36.1")
		for range 3 {
			w.round()
			g.Expect(ready(w.upgrade.Status).Reason).To(Equal(rollout.ReasonNodesSkipped))
			g.Expect(w.upgrade.Status.Waiting).To(HavePrefix("left at the old version: w-2 (step kubeadm: it broke)."))
		}
		w.upgrade.Spec.Skip = []string{"w-2"}
		w.round()
		g.Expect(w.upgrade.Status.Waiting).To(HavePrefix("nothing stops it any more"))
		w.upgrade.Spec.Resume++
		w.reach(g, "the end", w.complete)
		g.Expect(w.Node("w-9").KubeletVersion).To(Equal("v1.36.3"))
	})
	t.Run("one of two that failed is gone", func(t *testing.T) {
		g, w := stopped(t, v1alpha1.RolloutPlanSpec{FailureBudget: number(1), MaxUnavailable: number(2)}, rollout.ReasonNodeFailed, "w-1", "w-2")
		w.remove("w-1")
		w.round()
		g.Expect(w.upgrade.Status.Waiting).To(HavePrefix("left at the old version: w-2 ("))
		w.failing = nil
		w.upgrade.Spec.Resume++
		w.reach(g, "the end", w.complete)
	})
	t.Run("a verification fails meanwhile", func(t *testing.T) {
		g, w := stopped(t, v1alpha1.RolloutPlanSpec{Groups: []v1alpha1.NodeGroup{
			{Name: "canary", NodeSet: v1alpha1.NodeSet{Nodes: []string{"w-1"}}, Verify: &v1alpha1.Verification{}},
			{Name: "others", NodeSet: v1alpha1.NodeSet{Nodes: []string{"w-2", "w-3", "w-4"}}, BesidePrevious: true},
		}}, rollout.ReasonNodeFailed, "w-2")
		w.reach(g, "the verification", func() bool { return w.group("canary").State == v1alpha1.GroupVerifying })
		w.verifications = map[string]rollout.Verification{"canary": {Failed: "exit code 1"}}
		w.remove("w-2")
		w.round()
		g.Expect(ready(w.upgrade.Status).Reason).To(Equal(rollout.ReasonVerificationFailed))
		g.Expect(w.upgrade.Status.Waiting).To(HavePrefix("the verification of group canary failed: exit code 1"))
	})
}

// The canary is to prove something to the others: when it is gone before it did, they do not just follow.
func TestAGroupThatLosesItsNodes(t *testing.T) {
	canary := func(t *testing.T, until func(*world) bool) (*WithT, *world) {
		g := NewWithT(t)
		c, u := zones(4), fixture.Upgrade("v1.36.3")
		plan(c, u, v1alpha1.RolloutPlanSpec{Groups: []v1alpha1.NodeGroup{
			{Name: "canary", NodeSet: v1alpha1.NodeSet{Nodes: []string{"w-1"}}, Soak: &metav1.Duration{Duration: time.Minute}, Verify: &v1alpha1.Verification{}},
			{Name: "others", NodeSet: v1alpha1.NodeSet{Nodes: []string{"w-2", "w-3", "w-4"}}},
		}})
		w := newWorld(c, u)
		w.reach(g, "the moment", func() bool { return until(w) })
		return g, w
	}
	atWork := func(w *world) bool {
		nu := w.claim("w-1-v1.36.3")
		return nu != nil && nu.Status.Step == v1alpha1.StepKubelet
	}
	begun := func(w *world, node string) bool {
		nu := w.claim(node + "-v1.36.3")
		return nu != nil && !nu.Spec.Hold
	}
	lost := func(g *WithT, w *world) {
		w.reach(g, "a stop", func() bool { return w.upgrade.Status.State == v1alpha1.StateUpgradeFailed })
		g.Expect(ready(w.upgrade.Status).Reason).To(Equal(rollout.ReasonGroupLost))
		g.Expect(w.upgrade.Status.Waiting).To(HavePrefix("group canary has no node any more, so nothing of it would be proven before the others follow."))
		for range 5 {
			w.round()
		}
		g.Expect(w.upgrade.Status.State).To(Equal(v1alpha1.StateUpgradeFailed))
		g.Expect(w.upgrade.Status.Waiting).To(HavePrefix("group canary has no node any more"))
		g.Expect(begun(w, "w-2")).To(BeFalse())
	}
	t.Run("before it was done stops the upgrade, and a resume goes on without it", func(t *testing.T) {
		g, w := canary(t, atWork)
		w.remove("w-1")
		lost(g, w)
		w.upgrade.Spec.Resume++
		w.reach(g, "the end", w.complete)
	})
	afterFailure := func(w *world) bool {
		w.failing = []string{"w-1"}
		return w.upgrade.Status.State == v1alpha1.StateUpgradeFailed
	}
	t.Run("that failed has proven nothing, however long ago", func(t *testing.T) {
		for name, verify := range map[string]*v1alpha1.Verification{"with a verification": {}, "with a soak alone": nil} {
			t.Run(name, func(t *testing.T) {
				g, w := canary(t, afterFailure)
				w.Plans[0].Spec.Groups[0].Verify = verify
				g.Expect(w.upgrade.Status.Waiting).To(HavePrefix("w-1 failed"))
				for range 10 {
					w.round() // longer than the soak
				}
				g.Expect(w.group("canary").NodesDoneAt).To(BeNil())
				g.Expect(w.group("canary").State).To(Equal(v1alpha1.GroupRunning))
				w.remove("w-1")
				w.round()
				lost(g, w)
				w.upgrade.Spec.Resume++
				w.reach(g, "the end", w.complete)
			})
		}
	})
	t.Run("that failed is told of although the upgrade is resumed at once", func(t *testing.T) {
		g, w := canary(t, afterFailure)
		w.remove("w-1")
		w.upgrade.Spec.Resume++
		w.round()
		lost(g, w)
		w.upgrade.Spec.Resume++
		w.reach(g, "the end", w.complete)
	})
	t.Run("that failed, as the budget bears, has proven nothing before and after", func(t *testing.T) {
		for _, then := range []string{"removed", "left out", "repaired"} {
			g, w := canary(t, func(w *world) bool {
				w.Plans[0].Spec.FailureBudget, w.Plans[0].Spec.Groups[0].Verify = number(1), nil
				w.failing = []string{"w-1"}
				return w.upgrade.Status.State == v1alpha1.StateUpgradeFailed
			})
			for range 10 {
				w.round() // longer than the soak
			}
			g.Expect(ready(w.upgrade.Status).Reason).To(Equal(rollout.ReasonNodesSkipped))
			g.Expect(w.upgrade.Status.Waiting).To(HavePrefix("group canary proves nothing, as none of its nodes was upgraded: w-1 ("))
			g.Expect(w.group("canary").State).To(Equal(v1alpha1.GroupRunning))
			g.Expect(w.group("canary").NodesDoneAt).To(BeNil())
			g.Expect(begun(w, "w-2")).To(BeFalse())
			w.failing = nil
			switch then {
			case "removed":
				w.remove("w-1")
				w.round()
				lost(g, w)
				continue
			case "left out":
				w.upgrade.Spec.Skip = []string{"w-1"}
			}
			w.upgrade.Spec.Resume++
			w.reach(g, "the soak", func() bool { return w.group("canary").State == v1alpha1.GroupSoaking })
			g.Expect(w.Node("w-1").KubeletVersion == "v1.36.3").To(Equal(then == "repaired"))
			w.reach(g, "the end", w.complete)
		}
	})
	t.Run("that were all left at the old version proves nothing", func(t *testing.T) {
		g, w := canary(t, func(w *world) bool {
			w.Plans[0].Spec.Groups[0].Verify = nil
			nu := w.claim("w-1-v1.36.3")
			return nu != nil && nu.Status.Phase == v1alpha1.NodeStaged
		})
		w.claim("w-1-v1.36.3").Status.Phase = v1alpha1.NodeSkipped // its drain took too long, and the plan says to go on
		w.reach(g, "a stop", func() bool { return w.upgrade.Status.State == v1alpha1.StateUpgradeFailed })
		g.Expect(w.upgrade.Status.Waiting).To(HavePrefix("group canary proves nothing"))
		g.Expect(begun(w, "w-2")).To(BeFalse())
		w.upgrade.Spec.Resume++
		w.reach(g, "the end", w.complete)
		g.Expect(w.Node("w-1").KubeletVersion).To(Equal("v1.36.3"))
	})
	t.Run("is told of after what stopped the upgrade before", func(t *testing.T) {
		g, w := canary(t, func(w *world) bool {
			w.Plans[0].Spec.Groups[1].BesidePrevious, w.Plans[0].Spec.Groups[0].Nodes = true, []string{"w-1", "w-9"}
			w.failing = []string{"w-1", "w-2"}
			return w.upgrade.Status.Nodes.Failed == 2
		})
		w.remove("w-1")
		w.round()
		w.round()
		g.Expect(w.upgrade.Status.State).To(Equal(v1alpha1.StateUpgradeFailed))
		g.Expect(w.upgrade.Status.Waiting).To(HavePrefix("w-2 failed"))
		w.failing = nil
		w.upgrade.Spec.Resume++
		w.round()
		g.Expect(ready(w.upgrade.Status).Reason).To(Equal(rollout.ReasonGroupLost))
		w.upgrade.Spec.Resume++
		w.reach(g, "the end", w.complete)
	})
	t.Run("and gets another one proves by that", func(t *testing.T) {
		g, w := canary(t, atWork)
		gone := w.remove("w-1")
		lost(g, w)
		w.join(gone, "w-1", "v1.36.1")
		w.upgrade.Spec.Resume++
		w.reach(g, "the soak", func() bool { return w.group("canary").State == v1alpha1.GroupSoaking })
		g.Expect(w.Node("w-1").KubeletVersion).To(Equal("v1.36.3"))
		g.Expect(begun(w, "w-2")).To(BeFalse())
	})
	t.Run("after they were done is soaked and verified all the same", func(t *testing.T) {
		g, w := canary(t, func(w *world) bool { return w.group("canary").State == v1alpha1.GroupSoaking })
		w.remove("w-1")
		w.round()
		g.Expect(w.group("canary").State).To(Equal(v1alpha1.GroupSoaking))
		w.reach(g, "the verification", func() bool { return w.group("canary").State == v1alpha1.GroupVerifying })
		g.Expect(begun(w, "w-2")).To(BeFalse())
		w.verifications = map[string]rollout.Verification{"canary": {Done: true}}
		w.reach(g, "the end", w.complete)
	})
	t.Run("is of no concern where it has nothing to prove", func(t *testing.T) {
		g, w := canary(t, atWork)
		w.Plans[0].Spec.Groups[0].Soak, w.Plans[0].Spec.Groups[0].Verify = nil, nil
		w.remove("w-1")
		w.reach(g, "the end", w.complete)
	})
}
