package gate

import (
	"fmt"
	"strings"

	"refit.dev/refit/internal/snapshot"
)

// The names of the gates.
const (
	Kubeadm          = "kubeadm"
	Exclusive        = "exclusive"
	Versions         = "versions"
	Patches          = "patches"
	NodesReady       = "nodes-ready"
	ControlPlanePods = "control-plane-pods"
	Etcd             = "etcd"
	Certificates     = "certificates"
	Disk             = "disk"
	Skew             = "skew"
	RemovedAPIs      = "removed-apis"
	Webhooks         = "webhooks"
	InService        = "in-service"
)

// checks are the gates, in the order in which a person would look.
var checks = []check{
	{Kubeadm, []Point{BeforeStart}, kubeadm},
	{Exclusive, []Point{BeforeStart}, exclusive},
	{Versions, []Point{BeforeStart}, versions},
	{Patches, []Point{BeforeStart}, patches},
	{NodesReady, []Point{BeforeStart, BeforeControlPlane, AfterEnd}, nodesReady},
	{ControlPlanePods, []Point{BeforeStart, BeforeControlPlane, BeforeWorkers, AfterEnd}, controlPlanePods},
	{Etcd, []Point{BeforeStart, BeforeControlPlane, AfterEnd}, etcd},
	{Certificates, []Point{BeforeStart}, certificates},
	{Disk, []Point{BeforeStart, BeforeControlPlane}, disk},
	{Skew, []Point{BeforeStart, BeforeControlPlane, AfterEnd}, skew},
	{RemovedAPIs, []Point{BeforeStart}, removedAPIs},
	{Webhooks, []Point{BeforeStart, BeforeControlPlane, BeforeWorkers}, webhooks},
	{InService, []Point{BeforeStart}, inService},
}

func ok(format string, args ...any) Verdict {
	return Verdict{Level: OK, Message: fmt.Sprintf(format, args...)}
}

func blocked(objects []string, format string, args ...any) Verdict {
	return Verdict{Level: Blocked, Objects: objects, Message: fmt.Sprintf(format, args...)}
}

func warning(objects []string, format string, args ...any) Verdict {
	return Verdict{Level: Warning, Objects: objects, Message: fmt.Sprintf(format, args...)}
}

// unobserved is the verdict for the first of the parts that could not be read; ok is false where all were.
func unobserved(c *snapshot.Cluster, parts ...snapshot.Part) (v Verdict, missing bool) {
	for _, p := range parts {
		if why, bad := c.Unobserved[p]; bad {
			return Verdict{Level: Unknown, Message: fmt.Sprintf("%s could not be observed, so this counts as closed: %s", p, why)}, true
		}
	}
	return Verdict{}, false
}

// few lists the first of many, so that a message stays readable for thousands of nodes.
func few(items []string) string {
	const most = 5
	if len(items) <= most {
		return strings.Join(items, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(items[:most], ", "), len(items)-most)
}

// plural is "1 node" or "3 nodes".
func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
