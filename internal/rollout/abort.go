package rollout

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/version"
)

// abort lets what is in flight reach a safe point, and starts nothing.
func (d *Decision) abort(in Input, j *journey) outcome {
	u := in.Upgrade
	if j == nil {
		return outcome{state: v1alpha1.StateUpgradeAborted, reason: ReasonAborted, waiting: "aborted before anything was done"}
	}
	d.hold(j, "the upgrade is aborted")
	open := []string{}
	for i := range in.Cluster.NodeUpgrades {
		nu := &in.Cluster.NodeUpgrades[i]
		if nu.Labels[v1alpha1.LabelUpgrade] != u.Name || ended(nu) {
			continue
		}
		open = append(open, nodeOf(nu))
		if !nu.Spec.Abort {
			d.Actions = append(d.Actions, Action{Kind: Abort, Node: nodeOf(nu), Name: nu.Name, Version: nu.Spec.KubernetesVersion, Why: "the upgrade is aborted"})
		}
	}
	if len(open) > 0 {
		slices.SortFunc(open, natural)
		return outcome{state: v1alpha1.StateUpgradeAborting, reason: ReasonAborting, waiting: fmt.Sprintf("%s on the way to a safe point", are(open))}
	}
	return outcome{state: v1alpha1.StateUpgradeAborted, reason: ReasonAborted, waiting: summary(j)}
}

// summary says which nodes an ended upgrade left at which version.
func summary(j *journey) string {
	byVersion := map[string][]string{}
	var order []string
	for _, n := range j.notes() {
		node := j.Cluster.Node(n.Node)
		v := cmp.Or(version.OfNode(node), "unknown")
		if byVersion[v] == nil {
			order = append(order, v)
		}
		byVersion[v] = append(byVersion[v], n.Node)
	}
	version.Sort(order)
	parts := make([]string, 0, len(order))
	for _, v := range order {
		parts = append(parts, fmt.Sprintf("%s at %s", brief(byVersion[v]), v))
	}
	return strings.Join(parts, ", ")
}

// brief lists a few names, or counts many.
func brief(names []string) string {
	if len(names) > 5 {
		return fmt.Sprintf("%d nodes", len(names))
	}
	return strings.Join(names, ", ")
}
