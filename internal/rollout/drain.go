package rollout

import (
	"fmt"
	"strings"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/snapshot"
	"refit.dev/refit/internal/version"
)

// Drains says whether pods are moved away from a node before it is brought to a version, and why or why not. A node whose pods
// nobody else could take is never drained. policy may be nil.
func Drains(c *snapshot.Cluster, node, to string, policy *v1alpha1.DrainPolicy) (drains bool, why string) {
	n := c.Node(node)
	if n == nil {
		return false, fmt.Sprintf("there is no node %s", node)
	}
	mode := drainDefaults(policy).Mode
	if mode == v1alpha1.DrainNever {
		return false, "the plan drains no node"
	}
	if !anotherTakesPods(c, node) {
		return false, "no other node could take its pods"
	}
	if mode == v1alpha1.DrainAlways {
		return true, "the plan drains every node"
	}
	return intrusive(c, n, to)
}

// intrusive says whether the change restarts the node's containers: a kubelet restarts all of them when its minor changes, and
// so does containerd when its major does.
func intrusive(c *snapshot.Cluster, n *snapshot.Node, to string) (bool, string) {
	from := version.Minor(n.KubeletVersion)
	if from != version.Minor(to) {
		return true, fmt.Sprintf("containers restart on the way from %s to %s", n.KubeletVersion, to)
	}
	if kv := c.Version(to); kv != nil {
		now, then := major(n.RuntimeVersion), major(kv.Component("containerd"))
		if now != "" && then != "" && now != then {
			return true, fmt.Sprintf("containers restart on the way from containerd %s to %s", now, then)
		}
	}
	return false, "a patch release restarts no container"
}

// major of containerd://1.7.2, v2.2.9 or 2.2.9; empty for anything else.
func major(v string) string {
	v = strings.TrimPrefix(strings.TrimPrefix(v, "containerd://"), "v")
	m, _, found := strings.Cut(v, ".")
	if !found || digits(m) != len(m) {
		return ""
	}
	return m
}

func anotherTakesPods(c *snapshot.Cluster, node string) bool {
	for i := range c.Nodes {
		if c.Nodes[i].Name != node && c.Nodes[i].TakesPods() {
			return true
		}
	}
	return false
}
