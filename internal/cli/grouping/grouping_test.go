package grouping_test

import (
	"fmt"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/cli/grouping"
	"refit.dev/refit/internal/rollout"
	"refit.dev/refit/internal/snapshot"
	"refit.dev/refit/internal/snapshot/fixture"
)

// zones is a cluster whose workers are in zones a, b and c in turn.
func zones(workers int) *snapshot.Cluster {
	c := fixture.Cluster(1, workers, "v1.36.1")
	for i := range c.Nodes {
		if n := &c.Nodes[i]; !n.ControlPlane {
			n.Labels = map[string]string{"zone": string(rune('a' + i%3))}
		}
	}
	return c
}

func in(value string) v1alpha1.NodeSet {
	return v1alpha1.NodeSet{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"zone": value}}}
}

func share(text string) *intstr.IntOrString { v := intstr.Parse(text); return &v }

func preview(c *snapshot.Cluster, spec v1alpha1.RolloutPlanSpec) (rollout.PlanReport, v1alpha1.RolloutPlanSpec) {
	c.Plans = []v1alpha1.RolloutPlan{{ObjectMeta: metav1.ObjectMeta{Name: "plan"}, Spec: spec}}
	plan, _ := rollout.PlanOf(c, "plan")
	return rollout.Preview(c, rollout.PreviewRequest{To: "v1.36.3", Plan: "plan"}), plan
}

// What is shown of a plan is what the planner does by it.
func TestGroupsAreThePlannersOwn(t *testing.T) {
	for workers := 3; workers <= 12; workers++ {
		for _, most := range []string{"1", "2", "5", "10%", "34%", "50%", "99%", "100%"} {
			t.Run(fmt.Sprintf("%s of %d", most, workers), func(t *testing.T) {
				g := NewWithT(t)
				c := zones(workers)
				r, plan := preview(c, v1alpha1.RolloutPlanSpec{StagingParallelism: 50, Groups: []v1alpha1.NodeGroup{
					{Name: "canary", NodeSet: v1alpha1.NodeSet{Nodes: []string{"w-1"}}},
					{Name: "one", NodeSet: in("a"), MaxUnavailable: share(most)},
					{Name: "two", NodeSet: in("b"), MaxUnavailable: share(most), Parallelism: share("1")},
				}})
				widest := map[string]int{}
				for _, s := range r.Steps {
					widest[s.Group] = max(widest[s.Group], len(s.Nodes))
					for _, name := range s.Nodes {
						g.Expect(grouping.Of(&plan, c.Node(name))).To(Equal(s.Group), name)
					}
				}
				for _, group := range grouping.Groups(&plan, c) {
					want := min(group.MaxUnavailable, group.Parallelism, group.Nodes)
					g.Expect(widest[group.Name]).To(Equal(want), group.Name)
				}
			})
		}
	}
}

func TestSharesAndBudgetsInNumbers(t *testing.T) {
	g := NewWithT(t)
	c := zones(12)
	soak := &metav1.Duration{Duration: time.Hour}
	_, plan := preview(c, v1alpha1.RolloutPlanSpec{FailureBudget: share("30%"), Drain: &v1alpha1.DrainPolicy{Mode: v1alpha1.DrainNever}, Groups: []v1alpha1.NodeGroup{
		{Name: "all", NodeSet: v1alpha1.NodeSet{Selector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
			{Key: "zone", Operator: metav1.LabelSelectorOpIn, Values: []string{"a", "b"}}}}},
			MaxUnavailable: share("3"), SpreadTopologyKey: "zone", FailureBudget: share("25%"), Soak: soak, Approval: true,
			Drain: &v1alpha1.DrainPolicy{Mode: v1alpha1.DrainAlways}},
	}})
	g.Expect(grouping.Groups(&plan, c)).To(Equal([]grouping.Group{
		{Name: "all", Nodes: 8, MaxUnavailable: 3, Parallelism: 3, PerDomain: 2, SpreadTopologyKey: "zone", FailureBudget: 2, Soak: soak, Approval: true, Drain: v1alpha1.DrainAlways},
		{Name: grouping.Rest, Nodes: 4, MaxUnavailable: 1, Parallelism: 1, FailureBudget: 1, Drain: v1alpha1.DrainNever},
	}))
	g.Expect(grouping.FailureBudget(&plan, c)).To(Equal(3))
	none := rollout.DefaultPlan()
	g.Expect(grouping.Groups(&none, c)).To(BeEmpty())
	g.Expect(grouping.Of(&none, c.Node("w-1"))).To(BeEmpty())
}

func TestWhyANodeIsWhereItIs(t *testing.T) {
	c := zones(4)
	c.Node("w-4").Labels = nil
	plan := v1alpha1.RolloutPlanSpec{Critical: &v1alpha1.NodeSet{Nodes: []string{"w-2"}}, Groups: []v1alpha1.NodeGroup{
		{Name: "canary", NodeSet: v1alpha1.NodeSet{Nodes: []string{"w-1"}}}, {Name: "b", NodeSet: in("b")}, {Name: "bb", NodeSet: in("b")},
		{Name: "odd", NodeSet: v1alpha1.NodeSet{Selector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "x", Operator: "Like"}}}}}}}
	for node, want := range map[string]string{
		"cp-1": "control planes come first, one by one",
		"w-1":  "also selected by b, bb: the first counts",
		"w-2":  `critical: its failure stops the upgrade; no group selects it (canary: names others, b: zone is "c", bb: zone is "c", and 1 more), so last`,
		"w-4":  "no group selects it (canary: names others, b: has no label zone, bb: has no label zone, and 1 more), so last",
	} {
		NewWithT(t).Expect(grouping.Why(&plan, c.Node(node))).To(Equal(want), node)
	}
}
