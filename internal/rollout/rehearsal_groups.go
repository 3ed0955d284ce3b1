package rollout

import (
	"slices"
	"strings"
	"time"

	"refit.dev/refit/api/v1alpha1"
)

// verification marks, among what a rehearsal waits for, the verification of a group.
const verification = "verification of "

// groupsOf names the groups of the nodes of a wave, and notes the persons' approvals that it waits for.
func (p *rehearsal) groupsOf(r *PlanReport, a Action) string {
	plan, err := PlanOf(p.real, p.upgrade.Spec.Plan)
	if err != nil || len(plan.Groups) == 0 {
		return ""
	}
	i := groupOf(&plan)(p.nodes[a.Node])
	if i == len(plan.Groups) {
		return "(rest)"
	}
	g := &plan.Groups[i]
	if g.Approval && !slices.Contains(p.approved, g.Name) {
		p.approved = append(p.approved, g.Name)
		r.Steps = append(r.Steps, PlanStep{Kind: StepApproval, Version: a.Version, Group: g.Name, After: p.now, Note: "`refit approve " + g.Name + "`"})
	}
	return g.Name
}

// approvals are those that a rehearsal takes as given.
func approvals(plan v1alpha1.RolloutPlanSpec) []string {
	var out []string
	for i := range plan.Groups {
		if plan.Groups[i].Approval {
			out = append(out, plan.Groups[i].Name)
		}
	}
	return out
}

// verify begins the verification of a group, which succeeds.
func (p *rehearsal) verify(r *PlanReport, a Action) bool {
	key := verification + a.Name
	if _, running := p.due[key]; running {
		return false
	}
	p.due[key] = p.now + p.takes.Verification
	r.Steps = append(r.Steps, PlanStep{Kind: StepVerification, Version: a.Version, Group: a.Name, After: p.now, Takes: p.takes.Verification})
	return true
}

// verified ends the verification of a group; false where the key is about something else.
func (p *rehearsal) verified(key string) bool {
	name, found := strings.CutPrefix(key, verification)
	if found {
		p.verifications[name] = Verification{Done: true}
	}
	return found
}

// soaked is how long it is until the first soak ends; negative where none is under way.
func (p *rehearsal) soaked() time.Duration {
	plan, err := PlanOf(p.real, p.upgrade.Spec.Plan)
	next := time.Duration(-1)
	if err != nil {
		return next
	}
	for _, s := range p.upgrade.Status.Groups {
		i := slices.IndexFunc(plan.Groups, func(g v1alpha1.NodeGroup) bool { return g.Name == s.Name })
		if s.State != v1alpha1.GroupSoaking || i < 0 || s.NodesDoneAt == nil {
			continue
		}
		end := s.NodesDoneAt.Add(plan.Groups[i].Soak.Duration).Sub(p.real.Now)
		if next < 0 || end < next {
			next = end
		}
	}
	return next
}
