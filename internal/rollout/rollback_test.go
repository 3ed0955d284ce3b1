package rollout_test

import (
	"testing"

	. "github.com/onsi/gomega"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/rollout"
	"refit.dev/refit/internal/snapshot"
	"refit.dev/refit/internal/snapshot/fixture"
)

// halfWayBack is a world whose rollback from v1.36.3 to v1.36.1 was aborted with one of three control planes back.
func halfWayBack(t *testing.T) *world {
	t.Helper()
	g := NewWithT(t)
	w := newWorld(fixture.Cluster(3, 2, "v1.36.3"), fixture.Upgrade("v1.36.1"))
	g.Expect(w.until(30, func() bool { nu := w.claim("cp-1-v1.36.1"); return nu != nil && nu.Status.Completed })).To(BeTrue())
	w.upgrade.Spec.Abort = true
	g.Expect(w.until(10, w.upgrade.Finished)).To(BeTrue())
	return w
}

func TestGroupsOfAnAbortedUpgradeAreNotDone(t *testing.T) {
	g := NewWithT(t)
	c, u := zones(10), fixture.Upgrade("v1.36.3")
	plan(c, u, canaryThenZones())
	u.Spec.ApprovedGroups = []string{"zone-a"}
	w := newWorld(c, u)
	w.verifications = map[string]rollout.Verification{"canary": {Done: true}}
	w.reach(g, "zone a", func() bool { nu := w.claim("w-3-v1.36.3"); return nu != nil && nu.Status.Step == v1alpha1.StepKubelet })
	u.Spec.Abort = true
	w.round()
	g.Expect(u.Status.Waiting).To(HaveSuffix("on the way to a safe point; the others are left as they are"))
	w.reach(g, "the end", u.Finished)
	g.Expect(w.group("canary").State).To(Equal(v1alpha1.GroupDone))
	aborted := 0
	for _, s := range u.Status.Groups[1:] {
		if s.Upgraded < s.Total {
			g.Expect(s.State).To(Equal(v1alpha1.GroupAborted), s.Name)
			g.Expect(s.NodesDoneAt).To(BeNil(), s.Name)
			aborted++
		}
	}
	g.Expect(aborted).To(BeNumerically(">", 0))
	u.Spec.Abort = false
	u.Spec.Resume++
	w.reach(g, "the end", w.complete)
	for _, s := range u.Status.Groups {
		g.Expect(s.State).To(Equal(v1alpha1.GroupDone), s.Name)
	}
}

func TestAnAbortedRollback(t *testing.T) {
	t.Run("is not resumed once another upgrade was begun", func(t *testing.T) {
		g, w := NewWithT(t), halfWayBack(t)
		back := w.upgrade
		w.follow("v1.36.3")
		g.Expect(w.until(100, w.complete)).To(BeTrue())
		back.Spec.Abort = false
		back.Spec.Resume++
		c := w.observe()
		c.Upgrades = append(c.Upgrades[:1], *back)
		d := decide(c, back)
		g.Expect(d.Actions).To(BeEmpty())
		g.Expect(d.Status.State).To(Equal(v1alpha1.StateUpgradeAborted))
		g.Expect(ready(d.Status).Reason).To(Equal(rollout.ReasonOvertaken))
		g.Expect(d.Status.Waiting).To(Equal("upgrade upgrade-2 was begun since this one was aborted: begin anew with `refit upgrade v1.36.1`"))
		back.Status = d.Status
		g.Expect(back.Finished()).To(BeTrue(), "nothing waits for it")
	})
	t.Run("goes on after a person brought a node forward by hand", func(t *testing.T) {
		g, w := NewWithT(t), halfWayBack(t)
		p := w.Node("cp-1").Components
		p.APIServer.Version, p.ControllerManager.Version, p.Scheduler.Version = "v1.36.3", "v1.36.3", "v1.36.3"
		w.Node("cp-1").KubeletVersion, w.Kubeadm.KubernetesVersion = "v1.36.3", "v1.36.3"
		w.upgrade.Spec.Abort = false
		w.upgrade.Spec.Resume++
		g.Expect(w.until(100, w.complete)).To(BeTrue())
		g.Expect(w.Node("cp-1").KubeletVersion).To(Equal("v1.36.1"))
	})
	t.Run("leaves a control plane alone while one of its Pods cannot be seen", func(t *testing.T) {
		for _, sees := range []func(*snapshot.Components) *snapshot.Components{
			func(*snapshot.Components) *snapshot.Components { return nil },
			func(p *snapshot.Components) *snapshot.Components { p.APIServer = snapshot.Component{}; return p },
			func(p *snapshot.Components) *snapshot.Components { p.Scheduler = snapshot.Component{}; return p },
		} {
			g, w := NewWithT(t), halfWayBack(t)
			done := w.claim("cp-1-v1.36.1").UID
			w.upgrade.Spec.Abort = false
			w.upgrade.Spec.Resume++
			g.Expect(w.until(10, func() bool { nu := w.claim("cp-2-v1.36.1"); return nu != nil && nu.Status.Step == v1alpha1.StepKubelet })).To(BeTrue())
			n := w.Node("cp-1")
			was := *n.Components
			n.Components = sees(n.Components) // its kubelet was restarted
			for range 5 {
				w.round()
			}
			n.Components = &was
			g.Expect(w.until(100, w.complete)).To(BeTrue())
			g.Expect(w.claim("cp-1-v1.36.1").UID).To(Equal(done), "it was drained again")
		}
	})
	t.Run("says of every node what it runs only once it is seen so", func(t *testing.T) {
		g := NewWithT(t)
		w := newWorld(fixture.Cluster(3, 2, "v1.36.3"), fixture.Upgrade("v1.36.1"))
		g.Expect(w.until(30, func() bool {
			nu := w.claim("cp-1-v1.36.1")
			return nu != nil && nu.Status.Step == v1alpha1.StepKubeadm
		})).To(BeTrue())
		w.upgrade.Spec.Abort = true
		before := w.observe()
		g.Expect(w.until(10, func() bool { return w.claim("cp-1-v1.36.1").Status.Completed })).To(BeTrue())
		w.until(2, w.upgrade.Finished)
		w.upgrade.Status.State = v1alpha1.StateUpgradeAborting
		late := w.freshClaims(before) // the cache of nodes is behind that of claims
		late.Upgrades = w.upgrades()
		d := decide(late, w.upgrade)
		g.Expect(d.Status.State).To(Equal(v1alpha1.StateUpgradeAborting))
		g.Expect(d.Status.Waiting).To(Equal("cp-1 was upgraded to v1.36.1, but is still seen at v1.36.3"))
		g.Expect(w.until(2, w.upgrade.Finished)).To(BeTrue())
		g.Expect(w.upgrade.Status.Waiting).To(Equal("cp-1 at v1.36.1; cp-2, cp-3, w-1, w-2 left at v1.36.3"))
	})
}
