package rollout

import (
	"cmp"
	"fmt"
	"slices"

	"refit.dev/refit/api/v1alpha1"
)

// lost names an object that the upgrade needs and that is there no more; empty where all are.
func (j *journey) lost() string {
	if _, err := PlanOf(j.Cluster, j.Upgrade.Spec.Plan); err != nil {
		return err.Error()
	}
	if j.Cluster.Version(j.hop()) == nil {
		return fmt.Sprintf("KubernetesVersion %s is there no more: import its bundle again", j.hop())
	}
	return ""
}

// mishap is what an upgrade fails by.
func (d *Decision) mishap(j *journey) outcome {
	if why := j.failures(); why != "" {
		return failed(ReasonNodeFailed, "%s. Repair it, then `refit resume`", why)
	}
	if g := j.lostGroup(); g != nil {
		o := failed(ReasonGroupLost, "%s has no node any more, so nothing of it would be proven before the others follow. Join a node that it selects, then `refit resume`; or `refit resume` goes on without it", g.title())
		o.lost = g
		return o
	}
	if i := slices.IndexFunc(j.groups, j.unproven); i >= 0 {
		g := j.groups[i]
		return failed(ReasonNodesSkipped, "%s proves nothing, as none of its nodes was upgraded: %s (%s). `refit resume` tries again; `refit skip NODE`, then `refit resume`, goes on without",
			g.title(), brief(g.names()), g.nodes[0].reason())
	}
	if why := j.unverified(); why != "" {
		return failed(ReasonVerificationFailed, "%s. Repair it, then `refit resume`", why)
	}
	if n := j.Networking; n.Failed != "" && n.Version == j.hop() && n.Resume >= j.Upgrade.Spec.Resume && !j.networked(d.Status.NetworkedVersion) {
		return failed(ReasonNetworkingFailed, "the networking step of %s failed: %s. Repair it, then `refit resume`", j.hop(), n.Failed)
	}
	if names, why := j.skipped(); len(names) > 0 {
		return behind(names, why)
	}
	return outcome{}
}

func behind(names []string, why string) outcome {
	return failed(ReasonNodesSkipped, "left at the old version: %s (%s). `refit resume` tries again", brief(names), why)
}

// stopped is what an upgrade says that has failed. What stopped it may hold no more: a person may have deleted the node, replaced it, or
// left it out. It goes on by a person's word all the same.
func (d *Decision) stopped(u *v1alpha1.KubernetesUpgrade, j *journey) outcome {
	o := outcome{state: v1alpha1.StateUpgradeFailed, reason: cmp.Or(u.Reason(), ReasonNodeFailed), waiting: d.Status.Waiting}
	byNodes := func(reason string) bool { return reason == ReasonNodeFailed || reason == ReasonNodesSkipped }
	if j == nil || !byNodes(o.reason) {
		return o
	}
	if now := d.mishap(j); now.reason != "" {
		return now
	}
	if names, why := j.left(); len(names) > 0 {
		return behind(names, why) // there is more to do as well, and a resume does both
	}
	o.waiting = "nothing stops it any more: the nodes that did are back, gone, replaced or left out. `refit resume` goes on"
	return o
}

// lostGroup is the first group that is lost; nil where none is. The status that tells of the loss knows no nodes of it any more, so that a
// resume goes on.
func (j *journey) lostGroup() *group {
	if i := slices.IndexFunc(j.groups, j.isLost); i >= 0 {
		return j.groups[i]
	}
	return nil
}

// isLost says that a group was to prove something to those after it, and that it lost its last node before it did: before its nodes were
// done, or with none of them at the version while the others still waited for it.
func (j *journey) isLost(g *group) bool {
	before := j.recorded(g.spec.Name)
	if !proves(&g.spec) || len(g.all) > 0 || before.Total == 0 {
		return false
	}
	return before.NodesDoneAt == nil || before.Upgraded == 0 && before.State != v1alpha1.GroupDone
}

// left are the nodes that failed, or were left at the old version, whatever else there is to do.
func (j *journey) left() (names []string, why string) {
	for _, f := range []*field{j.masters, j.workers} {
		for i := range f.nodes {
			if s := &f.nodes[i]; s.settled() && s.state != NodeDone {
				names, why = append(names, s.node.Name), cmp.Or(why, s.reason())
			}
		}
	}
	return names, why
}

// skipped are the nodes that were left at the old version, or failed within the budgets, once there is nothing else to do for the hop.
func (j *journey) skipped() (names []string, why string) {
	for _, f := range []*field{j.masters, j.workers} {
		for i := range f.nodes {
			switch s := &f.nodes[i]; {
			case s.to != j.hop() || s.state == NodeDone:
			case s.settled():
				names, why = append(names, s.node.Name), cmp.Or(why, s.reason())
			default:
				return nil, ""
			}
		}
		if f == j.workers && !j.groupsDone() {
			return nil, ""
		}
		if len(names) > 0 {
			break // skipped control planes keep the workers of a hop from being begun
		}
	}
	return names, why
}
