package version

import (
	"slices"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/snapshot"
)

// ControlPlane is a node's control-plane version: the lowest of API server, controller-manager and scheduler. Empty for a
// worker, and where one of the three could not be seen.
func ControlPlane(n *snapshot.Node) string {
	if n.Components == nil {
		return ""
	}
	lowest := ""
	for _, v := range threeOf(n.Components) {
		if _, err := Parse(v); err != nil {
			return ""
		}
		if lowest == "" || Compare(v, lowest) < 0 {
			lowest = v
		}
	}
	return lowest
}

// OfNode is the lowest version of whatever runs on the node: control plane and kubelet. Empty where that is not known.
func OfNode(n *snapshot.Node) string {
	if !n.ControlPlane {
		return n.KubeletVersion
	}
	cp := ControlPlane(n)
	if cp != "" && Compare(n.KubeletVersion, cp) < 0 {
		return n.KubeletVersion
	}
	return cp
}

// Runs says whether everything on the node runs exactly the version.
func Runs(n *snapshot.Node, version string) bool {
	if n.KubeletVersion != version {
		return false
	}
	if n.Components == nil {
		return !n.ControlPlane
	}
	for _, v := range all(n) {
		if v != version {
			return false
		}
	}
	return true
}

// Lowest is the lowest version of any control plane, which an upgrade starts from. Empty where none is known.
func Lowest(c *snapshot.Cluster) string {
	lowest := ""
	for i := range c.Nodes {
		if v := ControlPlane(&c.Nodes[i]); v != "" && (lowest == "" || Compare(v, lowest) < 0) {
			lowest = v
		}
	}
	return lowest
}

// StartsFrom is the version that a way to another starts from: the lowest of any control plane, or, where control planes are there
// already, the lowest of what is not. Empty where none is known.
func StartsFrom(c *snapshot.Cluster, to string) string {
	if lowest := Lowest(c); lowest != to {
		return lowest
	}
	others := []string{}
	for i := range c.Nodes {
		for _, v := range all(&c.Nodes[i]) {
			if _, err := Parse(v); err == nil && v != to {
				others = append(others, v)
			}
		}
	}
	if len(others) == 0 {
		return to
	}
	Sort(others)
	return others[0]
}

// Active is the version that every component of every node runs; empty while there is none.
func Active(c *snapshot.Cluster) string {
	if len(c.Nodes) == 0 {
		return ""
	}
	active := c.Nodes[0].KubeletVersion
	for i := range c.Nodes {
		if !Runs(&c.Nodes[i], active) {
			return ""
		}
	}
	return active
}

// States works out the status of every KubernetesVersion from what runs, by version. target is the toVersion of an unfinished
// upgrade, or empty.
func States(c *snapshot.Cluster, target string) map[string]v1alpha1.KubernetesVersionStatus {
	active := Active(c)
	if target == "" {
		target = active
	}
	running := map[string]bool{}
	for i := range c.Nodes {
		for _, v := range all(&c.Nodes[i]) {
			running[v] = true
		}
	}
	states := make(map[string]v1alpha1.KubernetesVersionStatus, len(c.Versions))
	for _, kv := range c.Versions {
		v := kv.Spec.Version
		s := v1alpha1.KubernetesVersionStatus{Target: v == target, ObservedGeneration: kv.Generation}
		switch {
		case v == active:
			s.State = v1alpha1.VersionActive
		case running[v]:
			s.State = v1alpha1.VersionPartial
		case reachable(c, v):
			s.State = v1alpha1.VersionAvailable
		default:
			s.State = v1alpha1.VersionUnavailable
		}
		states[v] = s
	}
	return states
}

func reachable(c *snapshot.Cluster, v string) bool {
	_, err := ForCluster(c, v)
	return err == nil
}

// all are the versions of everything of Kubernetes that was seen on the node.
func all(n *snapshot.Node) []string {
	vs := []string{n.KubeletVersion}
	if n.Components != nil {
		vs = append(vs, threeOf(n.Components)...)
	}
	return slices.Compact(vs)
}

func threeOf(c *snapshot.Components) []string {
	return []string{c.APIServer.Version, c.ControllerManager.Version, c.Scheduler.Version}
}
