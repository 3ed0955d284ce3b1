package rollout

import (
	"fmt"

	"refit.dev/refit/api/v1alpha1"
)

// failures is why the upgrade stops for the nodes that have failed; empty while the budgets bear them. A control plane and a critical
// worker stop it at once.
func (j *journey) failures() string {
	if s := j.masters.failed(); s != nil {
		return s.failed()
	}
	return j.workersFailed()
}

func (j *journey) workersFailed() string {
	total := 0
	for _, g := range j.groups {
		n := 0
		for _, s := range g.all {
			if s.state != NodeFailed {
				continue
			}
			n++
			if critical := j.plan.Critical; critical != nil && contains(*critical, s.node) {
				return s.failed() + "; it is critical"
			}
		}
		if why := j.overBudget(g, n); why != "" {
			return why
		}
		total += n
	}
	if most := budget(j.plan.FailureBudget, len(j.workers.nodes)); total > most {
		return fmt.Sprintf("%s, and the plan bears %d of %d: %s", plural(total, "worker")+" failed", most, len(j.workers.nodes), j.firstFailure(nil))
	}
	return ""
}

// overBudget says that too many nodes of a group have failed.
func (j *journey) overBudget(g *group, n int) string {
	bears := g.spec.FailureBudget
	if bears == nil {
		bears = j.plan.FailureBudget
	}
	most := budget(bears, len(g.all))
	switch {
	case n <= most:
		return ""
	case most == 0:
		return j.firstFailure(g)
	}
	return fmt.Sprintf("%s of %s failed, and its budget is %d: %s", plural(n, "node"), g.title(), most, j.firstFailure(g))
}

// firstFailure is what the first node of a group failed by, or of all for nil.
func (j *journey) firstFailure(of *group) string {
	for _, g := range j.groups {
		for _, s := range g.all {
			if s.state == NodeFailed && (of == nil || g == of) {
				return s.failed()
			}
		}
	}
	return ""
}

// unverified is why the upgrade stops for a verification that failed; empty where none did.
func (j *journey) unverified() string {
	for _, g := range j.groups {
		v := j.Verifications[g.spec.Name]
		if g.state == v1alpha1.GroupVerifying && v.Failed != "" && v.Resume >= j.Upgrade.Spec.Resume {
			return fmt.Sprintf("the verification of %s failed: %s", g.title(), v.Failed)
		}
	}
	return ""
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
