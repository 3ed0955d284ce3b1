package rollout_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/rollout"
	"refit.dev/refit/internal/snapshot"
	"refit.dev/refit/internal/snapshot/fixture"
)

const zone = "topology.kubernetes.io/zone"

// zones is a cluster of one control plane and workers in zones a and b in turn, of which the first is the canary.
func zones(workers int) *snapshot.Cluster {
	c := fixture.Cluster(1, workers, "v1.36.1")
	for i := range c.Nodes {
		if n := &c.Nodes[i]; !n.ControlPlane {
			n.Labels = map[string]string{zone: string(rune('a' + i%2))}
		}
	}
	return c
}

func number(n int) *intstr.IntOrString { v := intstr.FromInt(n); return &v }

func share(p string) *intstr.IntOrString { v := intstr.FromString(p); return &v }

func labelled(value string) v1alpha1.NodeSet {
	return v1alpha1.NodeSet{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{zone: value}}}
}

// canaryThenZones is the plan of the seed's kind: one first, then two zones side by side.
func canaryThenZones() v1alpha1.RolloutPlanSpec {
	return v1alpha1.RolloutPlanSpec{Groups: []v1alpha1.NodeGroup{
		{Name: "canary", NodeSet: v1alpha1.NodeSet{Nodes: []string{"w-1"}}, Soak: &metav1.Duration{Duration: time.Minute}, Verify: &v1alpha1.Verification{}},
		{Name: "zone-a", NodeSet: labelled("a"), MaxUnavailable: number(2), Approval: true},
		{Name: "zone-b", NodeSet: labelled("b"), BesidePrevious: true, MaxUnavailable: share("50%")},
	}, StagingParallelism: 20}
}

// reach plays until something holds.
func (w *world) reach(g *WithT, what string, holds func() bool) {
	for range 300 {
		if holds() {
			return
		}
		w.round()
	}
	g.Expect(what).To(BeEmpty(), "it was not reached: %s, %+v", w.upgrade.Status.Waiting, w.upgrade.Status.Groups)
}

func (w *world) group(name string) v1alpha1.GroupStatus {
	for _, s := range w.upgrade.Status.Groups {
		if s.Name == name {
			return s
		}
	}
	return v1alpha1.GroupStatus{}
}

func TestGroupsFollowEachOther(t *testing.T) {
	g := NewWithT(t)
	c, u := zones(7), fixture.Upgrade("v1.36.3")
	plan(c, u, canaryThenZones())
	w := newWorld(c, u)
	var started []string
	w.onAction = func(a rollout.Action, _ *snapshot.Cluster) {
		if a.Kind == rollout.Start && strings.HasPrefix(a.Node, "w-") {
			started = append(started, a.Node)
		}
	}
	w.reach(g, "the soak", func() bool { return w.group("canary").State == v1alpha1.GroupSoaking })
	g.Expect(started).To(Equal([]string{"w-1"}))
	g.Expect(u.Status.Waiting).To(ContainSubstring("group canary soaks until"))
	g.Expect(w.group("zone-a").State).To(Equal(v1alpha1.GroupWaiting))
	w.Now = w.Now.Add(time.Minute)
	w.reach(g, "the verification", func() bool { return w.group("canary").State == v1alpha1.GroupVerifying })
	g.Expect(started).To(HaveLen(1))
	w.verifications = map[string]rollout.Verification{"canary": {Done: true}}
	w.reach(g, "the approval", func() bool { return w.group("zone-a").State == v1alpha1.GroupApproval })
	g.Expect(w.group("canary").Verified).To(BeTrue())
	w.verifications = nil
	w.reach(g, "zone b", func() bool { return w.group("zone-b").State == v1alpha1.GroupDone })
	g.Expect(w.group("zone-a").Upgraded).To(BeZero(), "it waits for a person")
	g.Expect(u.Status.Waiting).To(ContainSubstring("refit approve zone-a"))
	u.Spec.ApprovedGroups = []string{"zone-a"}
	w.reach(g, "the end", w.complete)
}

func TestAGroupIsSpreadOverZones(t *testing.T) {
	g := NewWithT(t)
	c, u := zones(8), fixture.Upgrade("v1.36.3")
	plan(c, u, v1alpha1.RolloutPlanSpec{StagingParallelism: 20, Groups: []v1alpha1.NodeGroup{
		{Name: "all", NodeSet: v1alpha1.NodeSet{Selector: &metav1.LabelSelector{}}, MaxUnavailable: number(4), SpreadTopologyKey: zone}}})
	w := newWorld(c, u)
	most := map[string]int{}
	for range 300 {
		if w.complete() {
			break
		}
		w.round()
		out := map[string]int{}
		for i := range w.Nodes {
			if n := &w.Nodes[i]; !n.ControlPlane && n.Cordoned {
				out[n.Labels[zone]]++
			}
		}
		for z, n := range out {
			most[z] = max(most[z], n)
		}
	}
	g.Expect(w.complete()).To(BeTrue())
	g.Expect(most["a"]).To(BeNumerically("<=", 2))
	g.Expect(most["b"]).To(BeNumerically("<=", 2))
}

func TestBudgetsBearFailures(t *testing.T) {
	for _, tt := range []struct {
		name   string
		plan   func(p *v1alpha1.RolloutPlanSpec)
		fail   []string
		stops  bool
		says   string
		others bool // the other nodes are upgraded all the same
	}{
		{"none without a budget", func(*v1alpha1.RolloutPlanSpec) {}, []string{"w-2"}, true, "w-2 failed", false},
		{"one of a group's", func(p *v1alpha1.RolloutPlanSpec) {
			p.FailureBudget = number(1)
		}, []string{"w-2"}, true, "left at the old version: w-2", true},
		{"more than a group's", func(p *v1alpha1.RolloutPlanSpec) {
			p.FailureBudget, p.Groups[0].FailureBudget = number(5), number(1)
		}, []string{"w-2", "w-4"}, true, "2 nodes of group zone-a failed, and its budget is 1", false},
		{"more than the plan's", func(p *v1alpha1.RolloutPlanSpec) {
			p.FailureBudget = number(1)
			p.Groups[0].FailureBudget, p.Groups[1].FailureBudget = number(9), number(9)
		}, []string{"w-2", "w-1"}, true, "2 workers failed, and the plan bears 1 of 8", false},
		{"a percentage", func(p *v1alpha1.RolloutPlanSpec) { p.FailureBudget = share("50%") }, []string{"w-2", "w-1"}, true, "left at the old version: w-1", true},
		{"never a critical one", func(p *v1alpha1.RolloutPlanSpec) {
			p.FailureBudget = number(5)
			p.Critical = &v1alpha1.NodeSet{Nodes: []string{"w-2"}}
		}, []string{"w-2"}, true, "it is critical", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := NewWithT(t)
			c, u := zones(8), fixture.Upgrade("v1.36.3")
			spec := v1alpha1.RolloutPlanSpec{StagingParallelism: 20, Groups: []v1alpha1.NodeGroup{
				{Name: "zone-a", NodeSet: labelled("a")}, {Name: "zone-b", NodeSet: labelled("b"), BesidePrevious: true}}}
			tt.plan(&spec)
			plan(c, u, spec)
			w := newWorld(c, u)
			w.failing = tt.fail
			w.reach(g, "a stop", func() bool { return u.Status.State == v1alpha1.StateUpgradeFailed })
			g.Expect(u.Status.Waiting).To(ContainSubstring(tt.says))
			new := 0
			for i := range w.Nodes {
				if n := &w.Nodes[i]; !n.ControlPlane && n.KubeletVersion == "v1.36.3" {
					new++
				}
			}
			g.Expect(new == 8-len(tt.fail)).To(Equal(tt.others), "%d are new", new)
			w.failing = nil
			u.Spec.Resume++
			w.reach(g, "the end", w.complete)
		})
	}
}

func TestAPersonLeavesANodeOut(t *testing.T) {
	g := NewWithT(t)
	c, u := zones(3), fixture.Upgrade("v1.36.3")
	w := newWorld(c, u)
	w.failing = []string{"w-2"}
	w.reach(g, "a stop", func() bool { return u.Status.State == v1alpha1.StateUpgradeFailed })
	u.Spec.Skip = []string{"w-2"}
	u.Spec.Resume++
	w.reach(g, "the end", w.complete)
	g.Expect(w.Node("w-2").KubeletVersion).To(Equal("v1.36.1"))
	g.Expect(w.Node("w-3").KubeletVersion).To(Equal("v1.36.3"))
}

// A node whose claim a person aborts is settled: the soak of its group has an end, and the upgrade tells of the node at its own.
func TestASoakEndsAlthoughANodeOfTheGroupWasAborted(t *testing.T) {
	g := NewWithT(t)
	c, u := zones(4), fixture.Upgrade("v1.36.3")
	plan(c, u, v1alpha1.RolloutPlanSpec{StagingParallelism: 20, Groups: []v1alpha1.NodeGroup{
		{Name: "canary", NodeSet: v1alpha1.NodeSet{Nodes: []string{"w-1", "w-2"}}, Soak: &metav1.Duration{Duration: time.Minute}},
		{Name: "others", NodeSet: v1alpha1.NodeSet{Nodes: []string{"w-3", "w-4"}}}}})
	w := newWorld(c, u)
	w.reach(g, "w-2 staged", func() bool { nu := w.claim("w-2-v1.36.3"); return nu != nil && nu.Status.Phase == v1alpha1.NodeStaged })
	w.claim("w-2-v1.36.3").Spec.Abort = true
	w.reach(g, "the soak", func() bool { return w.group("canary").State == v1alpha1.GroupSoaking })
	since := w.group("canary").NodesDoneAt
	g.Expect(since).NotTo(BeNil())
	w.round()
	g.Expect(w.group("canary").NodesDoneAt).To(Equal(since))
	w.reach(g, "a stop", func() bool { return u.Status.State == v1alpha1.StateUpgradeFailed })
	g.Expect(ready(u.Status).Reason).To(Equal(rollout.ReasonNodesSkipped))
	g.Expect(u.Status.Waiting).To(HavePrefix("left at the old version: w-2 ("))
	g.Expect(w.Node("w-4").KubeletVersion).To(Equal("v1.36.3"))
	u.Spec.Resume++
	w.reach(g, "the end", w.complete)
}

func TestAVerificationThatFailsStopsTheUpgradeUntilItIsResumed(t *testing.T) {
	g := NewWithT(t)
	c, u := zones(4), fixture.Upgrade("v1.36.3")
	spec := canaryThenZones()
	spec.Groups[1].Approval = false
	plan(c, u, spec)
	w := newWorld(c, u)
	w.verifications = map[string]rollout.Verification{"canary": {Failed: "exit code 1"}}
	w.reach(g, "a stop", func() bool { return u.Status.State == v1alpha1.StateUpgradeFailed })
	g.Expect(u.Status.Waiting).To(ContainSubstring("the verification of group canary failed: exit code 1"))
	u.Spec.Resume++
	w.reach(g, "another try", func() bool {
		return u.Status.State != v1alpha1.StateUpgradeFailed && w.group("canary").State == v1alpha1.GroupVerifying
	})
	w.verifications = map[string]rollout.Verification{"canary": {Done: true, Resume: u.Spec.Resume}}
	w.reach(g, "the end", w.complete)
}

func TestWhatIsWrongWithAPlan(t *testing.T) {
	g := NewWithT(t)
	c := zones(5)
	spec := v1alpha1.RolloutPlanSpec{
		Groups: []v1alpha1.NodeGroup{
			{Name: "canary", NodeSet: v1alpha1.NodeSet{Nodes: []string{"w-1", "w-9", "cp-1"}}, MaxUnavailable: number(1), Parallelism: number(3), FailureBudget: number(2)},
			{Name: "b", NodeSet: labelled("b")}, {Name: "none", NodeSet: labelled("z")},
			{Name: "odd", NodeSet: v1alpha1.NodeSet{Selector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Like"}}}}},
		},
		Critical: &v1alpha1.NodeSet{Nodes: []string{"db-1"}},
	}
	g.Expect(rollout.Problems(c, spec)).To(ConsistOf(
		"group canary names nodes that do not exist: w-9",
		"group canary: parallelism 3 can never be met, as no more than 1 may be out of service",
		"group canary: failureBudget 2 bears every failure of 1 node: none of them stops the upgrade",
		`group odd: selector: "Like" is not a valid label selector operator`,
		"control planes in a group (canary), though they come first, one by one, whatever the groups say: cp-1",
		"in several groups (canary, b), so taken with canary: w-1",
		"in no group, so last: w-2, w-4",
		"group none is empty", "group odd is empty",
		"critical names nodes that do not exist: db-1",
	))
	g.Expect(rollout.Problems(c, rollout.DefaultPlan())).To(BeEmpty())
}

func TestLimitsThatAreNotWhatTheyLookLike(t *testing.T) {
	for _, tt := range []struct {
		name string
		plan v1alpha1.RolloutPlanSpec
		want []string
	}{
		{"numbers that fit", v1alpha1.RolloutPlanSpec{MaxUnavailable: number(4), FailureBudget: number(1), Groups: []v1alpha1.NodeGroup{
			{Name: "a", NodeSet: labelled("a"), MaxUnavailable: number(4), Parallelism: number(4), FailureBudget: number(2), SpreadTopologyKey: zone},
			{Name: "b", NodeSet: labelled("b"), FailureBudget: share("25%"), Verify: &v1alpha1.Verification{}}}}, nil},
		{"a percentage of a group that is none", v1alpha1.RolloutPlanSpec{FailureBudget: share("20%"), Groups: []v1alpha1.NodeGroup{
			{Name: "a", NodeSet: labelled("a")}, {Name: "b", NodeSet: labelled("b"), FailureBudget: share("10%")}}}, []string{
			"group a: the plan's failureBudget 20% of its 4 nodes is none, so its first failure stops the upgrade: give the group a number, such as failureBudget: 1",
			"group b: failureBudget 10% of its 4 nodes is none, so its first failure stops the upgrade: give the group a number, such as failureBudget: 1"}},
		{"a percentage of all that is none", v1alpha1.RolloutPlanSpec{FailureBudget: share("10%"), Groups: []v1alpha1.NodeGroup{
			{Name: "a", NodeSet: labelled("a")}, {Name: "b", NodeSet: labelled("b")}}}, []string{
			"failureBudget 10% of 8 workers is none, so the first failure stops the upgrade: give it as a number, such as 1"}},
		{"none that is meant", v1alpha1.RolloutPlanSpec{FailureBudget: share("0%"), Groups: []v1alpha1.NodeGroup{
			{Name: "canary", NodeSet: v1alpha1.NodeSet{Nodes: []string{"w-1"}}, FailureBudget: share("20%")},
			{Name: "all", NodeSet: v1alpha1.NodeSet{Selector: &metav1.LabelSelector{}}, FailureBudget: number(0)}}}, []string{
			"control planes in a group (all), though they come first, one by one, whatever the groups say: cp-1",
			"in several groups (canary, all), so taken with canary: w-1"}},
		{"budgets that stop nothing", v1alpha1.RolloutPlanSpec{FailureBudget: share("100%"), Groups: []v1alpha1.NodeGroup{
			{Name: "a", NodeSet: labelled("a"), FailureBudget: number(4)},
			{Name: "b", NodeSet: labelled("b"), FailureBudget: number(4), Soak: &metav1.Duration{Duration: time.Hour}}}}, []string{
			"the plan: failureBudget 100% bears every failure of 8 nodes: none of them stops the upgrade",
			"group a: failureBudget 4 bears every failure of 4 nodes: none of them stops the upgrade",
			"group b: failureBudget 4 bears every failure of 4 nodes: the upgrade stops only where all of them fail, as nothing is proven then"}},
		{"limits that can never be met", v1alpha1.RolloutPlanSpec{MaxUnavailable: number(2), Groups: []v1alpha1.NodeGroup{
			{Name: "a", NodeSet: labelled("a"), MaxUnavailable: number(5)},
			{Name: "b", NodeSet: labelled("b"), MaxUnavailable: number(3), Parallelism: share("100%")}}}, []string{
			"group a: maxUnavailable 5 can never be met, as the group has no more nodes",
			"group b: maxUnavailable 3 can never be met, as no more than 2 workers may be out of service in all",
			"group b: parallelism 100% can never be met, as no more than 3 may be out of service"}},
		{"more than there are", v1alpha1.RolloutPlanSpec{MaxUnavailable: number(9)}, []string{
			"the plan: maxUnavailable 9 can never be met, as there are no more workers"}},
		{"a spread over what no node has", v1alpha1.RolloutPlanSpec{Groups: []v1alpha1.NodeGroup{
			{Name: "a", NodeSet: labelled("a"), SpreadTopologyKey: "rack"}, {Name: "b", NodeSet: labelled("b")}}}, []string{
			"group a: no node of it has the label rack, so it is not spread"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			NewWithT(t).Expect(rollout.Problems(zones(8), tt.plan)).To(Equal(tt.want))
		})
	}
}

func TestAPreviewOfGroups(t *testing.T) {
	c := zones(7)
	p := v1alpha1.RolloutPlan{ObjectMeta: metav1.ObjectMeta{Name: "careful"}, Spec: canaryThenZones()}
	c.Plans = append(c.Plans, p)
	r := rollout.Preview(c, rollout.PreviewRequest{To: "v1.36.3", Plan: "careful"})
	var text strings.Builder
	for i, s := range r.Steps {
		fmt.Fprintf(&text, "%2d  after %-6s %-13s %-7s %s %s\n", i+1, s.After, s.Kind, s.Group, strings.Join(s.Nodes, " "), s.Note)
	}
	fmt.Fprintf(&text, "about %s; at most %d out of service\n%s\n", r.Estimate, r.MaxUnavailable, strings.Join(r.Problems, "\n"))
	golden(t, "preview-groups", text.String())
}
