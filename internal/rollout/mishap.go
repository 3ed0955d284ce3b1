package rollout

import (
	"cmp"
	"fmt"
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
	if why := j.unverified(); why != "" {
		return failed(ReasonVerificationFailed, "%s. Repair it, then `refit resume`", why)
	}
	if n := j.Networking; n.Failed != "" && n.Version == j.hop() && n.Resume >= j.Upgrade.Spec.Resume && !j.networked(d.Status.NetworkedVersion) {
		return failed(ReasonNetworkingFailed, "the networking step of %s failed: %s. Repair it, then `refit resume`", j.hop(), n.Failed)
	}
	if names, why := j.skipped(); len(names) > 0 {
		return failed(ReasonNodesSkipped, "left at the old version: %s (%s). `refit resume` tries again", brief(names), why)
	}
	return outcome{}
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
