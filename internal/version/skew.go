package version

import (
	"fmt"

	"refit.dev/refit/internal/snapshot"
)

// The most minors that components may be apart.
const (
	apiServerSkew = 1
	managerSkew   = 1
	// KubeletSkew is how many minors a kubelet may be older than an API server.
	KubeletSkew = 3
)

// Skew are the version skews that Kubernetes does not support, in words, in the order of the nodes. What could not be seen is
// passed over: it is for the gate of the control-plane pods to say so.
func Skew(c *snapshot.Cluster) []string { return skew(c, "", "") }

// SkewAfter are the unsupported skews that there would be, and are not yet, if everything on the node ran the version.
func SkewAfter(c *snapshot.Cluster, node, version string) []string {
	now := map[string]bool{}
	for _, s := range skew(c, "", "") {
		now[s] = true
	}
	var fresh []string
	for _, s := range skew(c, node, version) {
		if !now[s] {
			fresh = append(fresh, s)
		}
	}
	return fresh
}

// skew looks at the cluster as if everything on one node ran a version; no node is named "".
func skew(c *snapshot.Cluster, changed, version string) []string {
	as := func(n *snapshot.Node, v string) string {
		if n.Name == changed {
			return version
		}
		return v
	}
	low, high := apiServers(c, as)
	if low.version == "" {
		return nil
	}
	var out []string
	if MinorsApart(low.version, high.version) > apiServerSkew {
		out = append(out, fmt.Sprintf("API servers run %s (%s) and %s (%s): at most one minor apart is supported", low.version, low.node, high.version, high.node))
	}
	sound := map[string]bool{} // versions of workers of which nothing is to be said: thousands run the same
	for i := range c.Nodes {
		n := &c.Nodes[i]
		v := as(n, n.KubeletVersion)
		switch {
		case n.Components != nil:
			own := as(n, n.Components.APIServer.Version)
			out = append(out, managers(n, own, high.version, as)...)
			out = append(out, kubelet(n, v, own, high.version)...)
		case !sound[v]:
			bad := kubelet(n, v, low.version, high.version)
			out, sound[v] = append(out, bad...), len(bad) == 0
		}
	}
	return out
}

type located struct{ version, node string }

// apiServers are the oldest and the newest API server.
func apiServers(c *snapshot.Cluster, as func(*snapshot.Node, string) string) (low, high located) {
	for i := range c.Nodes {
		n := &c.Nodes[i]
		if n.Components == nil || Minor(n.Components.APIServer.Version) == "" {
			continue
		}
		v := as(n, n.Components.APIServer.Version)
		if low.version == "" || Compare(v, low.version) < 0 {
			low = located{v, n.Name}
		}
		if high.version == "" || Compare(v, high.version) > 0 {
			high = located{v, n.Name}
		}
	}
	return low, high
}

// managers checks controller-manager and scheduler, which talk to their own node's API server, and by leader election may act on
// what any API server stores.
func managers(n *snapshot.Node, own, high string, as func(*snapshot.Node, string) string) []string {
	var out []string
	for _, c := range []struct {
		name string
		v    string
	}{{"kube-controller-manager", n.Components.ControllerManager.Version}, {"kube-scheduler", n.Components.Scheduler.Version}} {
		v := as(n, c.v)
		switch {
		case Minor(v) == "":
		case MinorsApart(own, v) > 0:
			out = append(out, fmt.Sprintf("%s of %s runs %s, newer than its API server %s", c.name, n.Name, v, own))
		case MinorsApart(v, high) > managerSkew:
			out = append(out, fmt.Sprintf("%s of %s runs %s, more than one minor older than API server %s", c.name, n.Name, v, high))
		}
	}
	return out
}

// kubelet checks a kubelet against the oldest API server that it may reach (a control plane's own, or any behind the load
// balancer) and against the newest of all.
func kubelet(n *snapshot.Node, v, oldest, newest string) []string {
	switch {
	case Minor(v) == "":
		return nil
	case MinorsApart(oldest, v) > 0:
		return []string{fmt.Sprintf("kubelet of %s runs %s, newer than API server %s that it may reach", n.Name, v, oldest)}
	case MinorsApart(v, newest) > KubeletSkew:
		return []string{fmt.Sprintf("kubelet of %s runs %s, more than three minors older than API server %s", n.Name, v, newest)}
	}
	return nil
}
