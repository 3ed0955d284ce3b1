package grouping

import (
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/snapshot"
)

// Group is a group with its limits as numbers of nodes.
type Group struct {
	Name  string `json:"name"`
	Nodes int    `json:"nodes"`
	// MaxUnavailable and Parallelism are how many may be out of service, and in flight, at once.
	MaxUnavailable int `json:"maxUnavailable"`
	Parallelism    int `json:"parallelism"`
	// PerDomain is how many of one value of SpreadTopologyKey may be out of service, 0 where the group is not spread.
	PerDomain         int    `json:"perDomain,omitempty"`
	SpreadTopologyKey string `json:"spreadTopologyKey,omitempty"`
	// FailureBudget is how many may fail before the upgrade stops.
	FailureBudget  int  `json:"failureBudget"`
	BesidePrevious bool `json:"besidePrevious,omitempty"`
	Approval       bool `json:"approval,omitempty"`
	// Soak and Verify come after the last node.
	Soak   *metav1.Duration `json:"soak,omitempty"`
	Verify bool             `json:"verify,omitempty"`
	// Drain is Auto, Always or Never.
	Drain v1alpha1.DrainMode `json:"drain"`
}

// Groups are the groups of a plan for a cluster, the rest last where there is one; none where the plan has none. The plan has its defaults.
func Groups(plan *v1alpha1.RolloutPlanSpec, c *snapshot.Cluster) []Group {
	if len(plan.Groups) == 0 {
		return nil
	}
	members := map[string][]*snapshot.Node{}
	for i := range c.Nodes {
		n := &c.Nodes[i]
		members[Of(plan, n)] = append(members[Of(plan, n)], n)
	}
	var out []Group
	for i := range plan.Groups {
		out = append(out, newGroup(plan, &plan.Groups[i], members[plan.Groups[i].Name]))
	}
	if rest := members[Rest]; len(rest) > 0 {
		out = append(out, newGroup(plan, &v1alpha1.NodeGroup{Name: Rest}, rest))
	}
	return out
}

func newGroup(plan *v1alpha1.RolloutPlanSpec, spec *v1alpha1.NodeGroup, nodes []*snapshot.Node) Group {
	g := Group{Name: spec.Name, Nodes: len(nodes), BesidePrevious: spec.BesidePrevious, Approval: spec.Approval, Soak: spec.Soak,
		Verify: spec.Verify != nil, SpreadTopologyKey: spec.SpreadTopologyKey, Drain: v1alpha1.DrainAuto}
	g.MaxUnavailable = max(1, number(first(spec.MaxUnavailable, plan.MaxUnavailable), g.Nodes))
	g.Parallelism = g.MaxUnavailable
	if spec.Parallelism != nil {
		g.Parallelism = max(1, number(spec.Parallelism, g.Nodes))
	}
	g.FailureBudget = number(first(spec.FailureBudget, plan.FailureBudget), g.Nodes)
	if key := spec.SpreadTopologyKey; key != "" {
		domains := map[string]bool{}
		for _, n := range nodes {
			domains[n.Labels[key]] = true
		}
		g.PerDomain = max(1, (g.MaxUnavailable+len(domains)-1)/max(1, len(domains)))
	}
	for _, drain := range []*v1alpha1.DrainPolicy{plan.Drain, spec.Drain} {
		if drain != nil && drain.Mode != "" {
			g.Drain = drain.Mode
		}
	}
	return g
}

// FailureBudget is how many workers may fail in all.
func FailureBudget(plan *v1alpha1.RolloutPlanSpec, c *snapshot.Cluster) int {
	workers := 0
	for i := range c.Nodes {
		if !c.Nodes[i].ControlPlane {
			workers++
		}
	}
	return number(plan.FailureBudget, workers)
}

func first(given, otherwise *intstr.IntOrString) *intstr.IntOrString {
	if given != nil {
		return given
	}
	return otherwise
}

// number is a number, or a percentage of that many rounded down; 0 for nil and for what is neither.
func number(v *intstr.IntOrString, of int) int {
	if v == nil {
		return 0
	}
	if v.Type == intstr.Int {
		return max(0, v.IntValue())
	}
	p, err := strconv.Atoi(strings.TrimSuffix(v.StrVal, "%"))
	if err != nil || !strings.HasSuffix(v.StrVal, "%") {
		return 0
	}
	return of * max(0, min(p, 100)) / 100
}
