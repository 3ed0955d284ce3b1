package rollout

import (
	"slices"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/snapshot"
	"refit.dev/refit/internal/version"
)

// mastersInFlight are the control planes that anybody's claim is changing, in order. A claim counts even where its node is not
// seen: the observation may be older than the claim.
func mastersInFlight(c *snapshot.Cluster, cl claims) []string {
	masters := map[string]bool{}
	for i := range c.Nodes {
		if c.Nodes[i].ControlPlane {
			masters[c.Nodes[i].Name] = true
		}
	}
	var out []string
	for name, all := range cl {
		if slices.ContainsFunc(all, func(nu *v1alpha1.NodeUpgrade) bool {
			return inFlight(nu) && (nu.Spec.NodeType == v1alpha1.NodeTypeControlPlane || masters[name])
		}) {
			out = append(out, name)
		}
	}
	slices.SortFunc(out, natural)
	return out
}

// masters are the control planes that are still to be begun: those that were left half-way first, then those whose control plane
// runs the version already, then by name. One with an unhealthy etcd member comes last: the healthy ones must not wait for it
// to be tried where a person has excluded the gate.
func (f *field) masters() []*standing {
	rank := func(s *standing) int {
		m := f.cluster.Etcd.MemberOn(s.node.Name)
		switch {
		case s.halfway():
			return 0
		case m != nil && !m.Healthy:
			return 3
		case version.ControlPlane(s.node) == s.to:
			return 1
		}
		return 2
	}
	var out []*standing
	for i := range f.nodes {
		if f.nodes[i].waits() {
			out = append(out, &f.nodes[i])
		}
	}
	slices.SortStableFunc(out, func(a, b *standing) int { return rank(a) - rank(b) })
	return out
}

// first says whether the control plane is the one that moves the cluster's configuration to the version, by `kubeadm upgrade
// apply`: nobody has completed yet, and it either was the first already or finds the configuration not moved.
func (f *field) first(s *standing) bool {
	for i := range f.nodes {
		other := &f.nodes[i]
		if other.claim != nil && other.claim.Status.Phase == v1alpha1.NodeCompleted {
			return false
		}
	}
	if s.claim != nil && s.claim.Spec.FirstNodeToBeUpgraded {
		return true
	}
	if k := f.cluster.Kubeadm; k.Found && k.KubernetesVersion != "" {
		return k.KubernetesVersion != s.to
	}
	return !slices.ContainsFunc(f.nodes, func(o standing) bool { return version.ControlPlane(o.node) == s.to })
}
