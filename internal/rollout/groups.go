package rollout

import (
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/snapshot"
)

// group is workers of a plan that are taken together.
type group struct {
	spec v1alpha1.NodeGroup
	// nodes that are due at the hop, those that are done included, in order; all are those that are due at a later one, too.
	nodes, all []*standing
	state      v1alpha1.GroupState
	// why it is in that state, in words.
	why string
	// doneAt is when its last node was done; zero while they are not.
	doneAt time.Time
	// verified says that its verification is over.
	verified bool
}

// selecting reads a set once, and says of each node whether it is in it. A selector that cannot be read selects none; Problems tells of it.
func selecting(set v1alpha1.NodeSet) func(*snapshot.Node) bool {
	selector := labels.Nothing()
	if read, err := metav1.LabelSelectorAsSelector(set.Selector); err == nil {
		selector = read
	}
	return func(n *snapshot.Node) bool {
		return slices.Contains(set.Nodes, n.Name) || selector.Matches(labels.Set(n.Labels))
	}
}

// contains says whether a set selects a node.
func contains(set v1alpha1.NodeSet, n *snapshot.Node) bool { return selecting(set)(n) }

// groupOf gives the index of the group that a worker belongs to: the first that selects it, or len(groups).
func groupOf(plan *v1alpha1.RolloutPlanSpec) func(*snapshot.Node) int {
	sets := make([]func(*snapshot.Node) bool, len(plan.Groups))
	for i := range plan.Groups {
		sets[i] = selecting(plan.Groups[i].NodeSet)
	}
	return func(n *snapshot.Node) int {
		for i, has := range sets {
			if has(n) {
				return i
			}
		}
		return len(sets)
	}
}

// grouping puts the workers that are due at the hop into their groups, in the order in which these are taken. Without groups, and for
// workers that none selects, there is one without a name.
func (j *journey) grouping() []*group {
	all := make([]*group, len(j.plan.Groups)+1)
	for i := range j.plan.Groups {
		all[i] = &group{spec: j.plan.Groups[i]}
	}
	all[len(j.plan.Groups)] = &group{}
	of := groupOf(&j.plan)
	for i := range j.workers.nodes {
		s := &j.workers.nodes[i]
		g := all[of(s.node)]
		g.all = append(g.all, s)
		if s.to == j.hop() {
			g.nodes = append(g.nodes, s)
		}
	}
	if len(j.plan.Groups) > 0 && len(all[len(all)-1].all) == 0 {
		all = all[:len(all)-1]
	}
	j.groups = all // the budgets are of all groups together
	stops := j.workersFailed() != ""
	for i := range all {
		j.standGroup(all, i, stops)
	}
	return all
}

// standGroup works out where a group stands; those before it are worked out already. Failures that stop the upgrade prove nothing, so that
// no group is done by them.
func (j *journey) standGroup(all []*group, i int, stops bool) {
	g := all[i]
	before := j.recorded(g.spec.Name)
	g.verified = before.Verified
	stops = stops && before.NodesDoneAt == nil
	settled := !j.unproven(g) && !slices.ContainsFunc(g.nodes, func(s *standing) bool { return !s.settled() || stops && s.state == NodeFailed })
	if settled {
		g.doneAt = j.Cluster.Now
		if before.NodesDoneAt != nil {
			g.doneAt = before.NodesDoneAt.Time
		}
	}
	first := firstBeside(all, i)
	switch waitsFor := slices.IndexFunc(all[:first], func(b *group) bool { return b.state != v1alpha1.GroupDone }); {
	case waitsFor >= 0:
		g.state, g.why = v1alpha1.GroupWaiting, "waits for "+all[waitsFor].title()
	case g.spec.Approval && !settled && !slices.Contains(j.Upgrade.Spec.ApprovedGroups, g.spec.Name):
		g.state, g.why = v1alpha1.GroupApproval, fmt.Sprintf("waits for a person: `refit approve %s`", g.spec.Name)
	case !settled:
		g.state = v1alpha1.GroupRunning
	default:
		j.afterNodes(g)
	}
}

// unproven says that a group was to prove something to those after it, and that none of its nodes was upgraded: they failed as the budgets
// bear, or were left at the old version.
func (j *journey) unproven(g *group) bool {
	return j.last() && len(g.nodes) > 0 && proves(&g.spec) && j.recorded(g.spec.Name).NodesDoneAt == nil &&
		!slices.ContainsFunc(g.nodes, func(s *standing) bool { return !s.settled() || s.state == NodeDone })
}

// proves says that what comes after the group waits for what it shows.
func proves(g *v1alpha1.NodeGroup) bool { return g.Soak != nil || g.Verify != nil }

// afterNodes is what follows the last node of a group. A group that never had nodes has nothing to soak or to verify; one that lost them
// since they were done has.
func (j *journey) afterNodes(g *group) {
	g.state = v1alpha1.GroupDone
	if len(g.nodes) == 0 && j.recorded(g.spec.Name).NodesDoneAt == nil || !j.last() {
		return
	}
	if soak := g.spec.Soak; soak != nil && j.Cluster.Now.Before(g.doneAt.Add(soak.Duration)) {
		g.state, g.why = v1alpha1.GroupSoaking, fmt.Sprintf("%s soaks until %s", g.title(), g.doneAt.Add(soak.Duration).UTC().Format("15:04:05 MST"))
		return
	}
	if g.spec.Verify == nil || g.verified {
		return
	}
	if v := j.Verifications[g.spec.Name]; v.Done {
		g.verified = true
		return
	}
	g.state, g.why = v1alpha1.GroupVerifying, "the verification of "+g.title()+" runs"
}

// firstBeside is the first of the groups that run side by side with one.
func firstBeside(all []*group, i int) int {
	for i > 0 && all[i].spec.BesidePrevious {
		i--
	}
	return i
}

// settled says that nothing more is done to the node by itself.
func (s *standing) settled() bool {
	switch s.state {
	case NodeDone, NodeFailed, NodeSkipped, NodeAborted:
		return true
	}
	return false
}

func (g *group) names() []string {
	out := make([]string, len(g.nodes))
	for i, s := range g.nodes {
		out[i] = s.node.Name
	}
	return out
}

func (g *group) title() string {
	if g.spec.Name == "" {
		return "the rest"
	}
	return "group " + g.spec.Name
}

func (j *journey) recorded(name string) v1alpha1.GroupStatus {
	for _, g := range j.Upgrade.Status.Groups {
		if g.Name == name {
			return g
		}
	}
	return v1alpha1.GroupStatus{}
}

// groupsDone says that every group is, the soaks and verifications included.
func (j *journey) groupsDone() bool {
	return !slices.ContainsFunc(j.groups, func(g *group) bool { return g.state != v1alpha1.GroupDone })
}

// groupsWait says what the groups wait for, where that is not a node.
func (j *journey) groupsWait() string {
	var parts []string
	for _, g := range j.groups {
		switch g.state {
		case v1alpha1.GroupSoaking, v1alpha1.GroupVerifying, v1alpha1.GroupApproval:
			why := g.why
			if g.state == v1alpha1.GroupApproval {
				why = g.title() + " " + why
			}
			parts = append(parts, why)
		}
	}
	return strings.Join(parts, "; ")
}

// groupStatus is what the status says of the groups; nil where the plan has none. The loss of one is told by this decision: those of
// others are still to be, by what was recorded of them.
func (j *journey) groupStatus(told *group) []v1alpha1.GroupStatus {
	if len(j.plan.Groups) == 0 {
		return nil
	}
	var out []v1alpha1.GroupStatus
	for _, g := range j.groups {
		if g != told && j.isLost(g) {
			s := j.recorded(g.spec.Name)
			if j.Upgrade.Spec.Abort {
				s.State = v1alpha1.GroupAborted
			}
			out = append(out, s)
			continue
		}
		s := v1alpha1.GroupStatus{Name: g.spec.Name, State: g.state, Total: int32(len(g.nodes)), Verified: g.verified}
		for _, n := range g.nodes {
			switch n.state {
			case NodeDone:
				s.Upgraded++
			case NodeFailed:
				s.Failed++
			}
		}
		// Only an abort of the whole upgrade leaves a group undone: a node whose own claim was aborted is settled, as one that failed is.
		left := j.Upgrade.Spec.Abort && slices.ContainsFunc(g.nodes, func(n *standing) bool { return n.state == NodeAborted || !n.settled() })
		if left || j.Upgrade.Spec.Abort && g.state != v1alpha1.GroupDone {
			s.State = v1alpha1.GroupAborted
		}
		switch before := j.recorded(g.spec.Name).NodesDoneAt; {
		case g.doneAt.IsZero() || left:
		case before != nil && before.Time.Equal(g.doneAt):
			s.NodesDoneAt = before
		case len(g.nodes) > 0:
			s.NodesDoneAt = &metav1.Time{Time: g.doneAt}
		}
		out = append(out, s)
	}
	return out
}

// verifications are the actions that run what groups are verified by.
func (j *journey) verifications() []Action {
	var out []Action
	for _, g := range j.groups {
		if g.state == v1alpha1.GroupVerifying {
			out = append(out, Action{Kind: RunVerification, Name: g.spec.Name, Version: j.hop(), Resume: j.Upgrade.Spec.Resume, Why: g.why})
		}
	}
	return out
}

// most is how many nodes of a group may be out of service at once, and in flight.
func (j *journey) most(g *group) (out, flying int) {
	out = groupLimit(&j.plan, &g.spec, len(g.nodes))
	flying = out
	if g.spec.Parallelism != nil {
		flying = limit(g.spec.Parallelism, len(g.nodes))
	}
	return out, flying
}

func groupLimit(plan *v1alpha1.RolloutPlanSpec, g *v1alpha1.NodeGroup, size int) int {
	most := g.MaxUnavailable
	if most == nil {
		most = plan.MaxUnavailable
	}
	return limit(most, size)
}

// mostUnavailable is how many workers may be out of service at once, of whichever groups: the plan's limit, or the sum of those that run
// side by side, for the stage where that is greatest.
func mostUnavailable(c *snapshot.Cluster, plan v1alpha1.RolloutPlanSpec) int {
	if plan.MaxUnavailable != nil || len(plan.Groups) == 0 {
		return limit(plan.MaxUnavailable, countWorkers(c))
	}
	sizes := groupSizes(c, plan)
	most, stage := 1, 0
	for i := range plan.Groups {
		if !plan.Groups[i].BesidePrevious {
			stage = 0
		}
		if sizes[i] > 0 {
			stage += groupLimit(&plan, &plan.Groups[i], sizes[i])
		}
		most = max(most, stage)
	}
	return most
}

// share is how many nodes of one topology domain may be out of service at once, for a group that is spread.
func (g *group) share(most int) (perDomain int, domain func(*snapshot.Node) string) {
	key := g.spec.SpreadTopologyKey
	domain = func(n *snapshot.Node) string { return n.Labels[key] }
	if key == "" {
		return most, func(*snapshot.Node) string { return "" }
	}
	domains := map[string]bool{}
	for _, s := range g.nodes {
		domains[domain(s.node)] = true
	}
	return max(1, (most+len(domains)-1)/max(1, len(domains))), domain
}

// budget is how many of that many nodes may fail: a percentage rounded down, none where nothing is said.
func budget(b *intstr.IntOrString, nodes int) int {
	if b == nil {
		return 0
	}
	if b.Type == intstr.Int {
		return max(0, b.IntValue())
	}
	return percent(b.StrVal, nodes)
}
