package gate

import (
	"fmt"
	"strings"

	"refit.dev/refit/internal/snapshot"
)

// nodesReady wants every control plane Ready, and of the workers at the start fewer NotReady than may be out of service at all.
// Workers that break later are the planner's: they count against the limit.
func nodesReady(p Point, in Input) Verdict {
	var masters, workers []string
	total := 0
	for i := range in.Cluster.Nodes {
		n := &in.Cluster.Nodes[i]
		if !n.ControlPlane {
			total++
		}
		switch {
		case n.Ready || in.forgives(n.Name):
		case n.ControlPlane:
			masters = append(masters, describe(n))
		default:
			workers = append(workers, describe(n))
		}
	}
	all := append(append([]string{}, masters...), workers...)
	switch {
	case len(masters) > 0:
		return blocked(masters, "control plane not Ready: %s. Repair it first: `kubectl describe node`", few(masters))
	case len(workers) == 0 || p == BeforeControlPlane:
		return ok("%s Ready", plural(len(in.Cluster.Nodes)-len(workers), "node"))
	case p == AfterEnd:
		return blocked(all, "not Ready: %s", few(all))
	case len(workers) >= in.MaxUnavailable:
		return blocked(all, "%d of %s not Ready, and at most %d may be out of service: %s. Repair them, raise the plan's maxUnavailable, or exclude this gate",
			len(workers), plural(total, "worker"), in.MaxUnavailable, few(workers))
	}
	return warning(all, "%d of %s not Ready, counted as out of service: %s", len(workers), plural(total, "worker"), few(workers))
}

func describe(n *snapshot.Node) string {
	if n.NotReadyReason == "" {
		return n.Name
	}
	return fmt.Sprintf("%s (%s)", n.Name, n.NotReadyReason)
}

// inService warns where cordons of people leave no room for the others: the upgrade would begin, and then wait for them.
func inService(_ Point, in Input) Verdict {
	var cordoned []string
	workers := 0
	for i := range in.Cluster.Nodes {
		n := &in.Cluster.Nodes[i]
		if n.ControlPlane {
			continue
		}
		workers++
		if n.Cordoned && n.CordonedBy == "" {
			cordoned = append(cordoned, n.Name)
		}
	}
	switch {
	case len(cordoned) == 0:
		return ok("no worker is cordoned")
	case len(cordoned) >= in.MaxUnavailable && workers > len(cordoned):
		return warning(cordoned, "cordoned: %s. They are upgraded and stay cordoned; as at most %d may be out of service, the other workers wait until they are uncordoned or the plan's maxUnavailable is raised",
			few(cordoned), in.MaxUnavailable)
	}
	return warning(cordoned, "cordoned: %s. They are upgraded and stay cordoned, and count as out of service", few(cordoned))
}

// disk wants no node under disk pressure: at the start none at all, later not the one that is next. Free space is measured on
// the node itself, by the preflight step.
func disk(p Point, in Input) Verdict {
	var full []string
	for i := range in.Cluster.Nodes {
		n := &in.Cluster.Nodes[i]
		if n.DiskPressure && (p != BeforeControlPlane || n.Name == in.Node || n.ControlPlane) {
			full = append(full, n.Name)
		}
	}
	if len(full) > 0 {
		return blocked(full, "disk pressure on %s: free some space there (old images: `crictl rmi --prune`)", few(full))
	}
	return ok("no node is short of disk space")
}

// controlPlanePods wants API server, controller-manager, scheduler and stacked etcd of every control plane found and Ready.
func controlPlanePods(_ Point, in Input) Verdict {
	if v, bad := unobserved(in.Cluster, snapshot.PartControlPlanePods); bad {
		return v
	}
	var bad, objects []string
	masters := 0
	for i := range in.Cluster.Nodes {
		n := &in.Cluster.Nodes[i]
		if !n.ControlPlane {
			continue
		}
		masters++
		if in.forgives(n.Name) {
			continue
		}
		if n.Components == nil {
			bad, objects = append(bad, "no control-plane pod of "+n.Name+" was seen"), append(objects, n.Name)
			continue
		}
		for _, c := range static(n.Components, in.Cluster.Etcd.External) {
			if c.Found && c.Ready {
				continue
			}
			bad, objects = append(bad, c.trouble(n.Name)), append(objects, c.name+"-"+n.Name)
		}
	}
	switch {
	case masters == 0:
		return blocked(nil, "no control plane was found: no node has the label node-role.kubernetes.io/control-plane")
	case len(bad) > 0:
		return blocked(objects, "%s. See `kubectl -n kube-system describe pod %s`", strings.Join(bad, "; "), objects[0])
	}
	return ok("the pods of %s are Ready", plural(masters, "control plane"))
}

type staticPod struct {
	name string
	snapshot.Component
}

func (p staticPod) trouble(node string) string {
	switch {
	case !p.Found:
		return fmt.Sprintf("%s-%s is missing", p.name, node)
	case p.Message == "":
		return fmt.Sprintf("%s-%s is not Ready", p.name, node)
	}
	return fmt.Sprintf("%s-%s is not Ready: %s", p.name, node, p.Message)
}

func static(c *snapshot.Components, external bool) []staticPod {
	pods := []staticPod{
		{"kube-apiserver", c.APIServer},
		{"kube-controller-manager", c.ControllerManager},
		{"kube-scheduler", c.Scheduler},
	}
	if !external {
		pods = append(pods, staticPod{"etcd", c.Etcd})
	}
	return pods
}
