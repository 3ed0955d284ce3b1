package planfile

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/observe"
	"refit.dev/refit/internal/snapshot"
	"refit.dev/refit/internal/version"
)

// Cluster is the nodes as a cluster of kubeadm's whose control planes run what their kubelets do. Of etcd nothing is known.
func Cluster(nodes []corev1.Node, plan *v1alpha1.RolloutPlan, now time.Time) *snapshot.Cluster {
	c := &snapshot.Cluster{Now: now, Plans: []v1alpha1.RolloutPlan{*plan},
		Unobserved: map[snapshot.Part]string{snapshot.PartEtcd: "no cluster was asked"}}
	for i := range nodes {
		n := observe.Node(&nodes[i])
		if n.ControlPlane {
			up := snapshot.Component{Found: true, Ready: true, Version: n.KubeletVersion}
			n.Components = &snapshot.Components{APIServer: up, ControllerManager: up, Scheduler: up}
		}
		c.Nodes = append(c.Nodes, n)
	}
	c.Kubeadm = snapshot.Kubeadm{Found: true, KubernetesVersion: version.Lowest(c)}
	return c
}

// Next is the version that is taken where none is given: the first of the minor after that of the lowest control plane, or of the lowest
// node where there is no control plane. Empty where that is no version.
func Next(c *snapshot.Cluster) string {
	lowest := version.Lowest(c)
	for i := range c.Nodes {
		if v := c.Nodes[i].KubeletVersion; lowest == "" || version.Lowest(c) == "" && version.Compare(v, lowest) < 0 {
			lowest = v
		}
	}
	v, err := version.Parse(lowest)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("v%d.%d.0", v.Major(), v.Minor()+1)
}

// Make gives the cluster the KubernetesVersions by which it comes to a version: what its nodes run, the version, and the first of each
// minor in between, which it names.
func Make(c *snapshot.Cluster, to string) (between []string) {
	known := map[string]bool{}
	add := func(v string, back ...string) {
		if known[v] || version.Minor(v) == "" {
			return
		}
		known[v] = true
		kv := v1alpha1.KubernetesVersion{Spec: v1alpha1.KubernetesVersionSpec{Version: v, UpgradeFrom: []string{version.Minor(v)}, DowngradeTo: back}}
		if before := minorBefore(v); before != "" {
			kv.Spec.UpgradeFrom = append(kv.Spec.UpgradeFrom, before)
		}
		kv.Name = v
		c.Versions = append(c.Versions, kv)
	}
	add(to)
	for i := range c.Nodes {
		runs := c.Nodes[i].KubeletVersion
		var back []string
		if version.Minor(runs) == version.Minor(to) && version.Compare(runs, to) > 0 {
			back = []string{to}
		}
		add(runs, back...)
	}
	for v := minorBefore(to); v != "" && version.MinorsApart(version.Lowest(c), v+".0") > 0; v = minorBefore(v + ".0") {
		if slices.ContainsFunc(c.Versions, func(kv v1alpha1.KubernetesVersion) bool { return version.Minor(kv.Spec.Version) == v }) {
			continue
		}
		between = append([]string{v + ".0"}, between...)
		add(v + ".0")
	}
	return between
}

// minorBefore is the minor before that of a version, empty for the first.
func minorBefore(v string) string {
	parsed, err := version.Parse(v)
	if err != nil || parsed.Minor() == 0 {
		return ""
	}
	return fmt.Sprintf("v%d.%d", parsed.Major(), parsed.Minor()-1)
}
