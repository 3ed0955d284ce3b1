package rollout

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

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
	open, flying := 0, []string{}
	for _, nu := range in.Cluster.NodeUpgrades {
		if nu.Labels[v1alpha1.LabelUpgrade] != u.Name || ended(nu) {
			continue
		}
		if open++; inFlight(nu) {
			flying = append(flying, nodeOf(nu))
		}
		if !nu.Spec.Abort {
			d.Actions = append(d.Actions, Action{Kind: Abort, Node: nodeOf(nu), Name: nu.Name, Version: nu.Spec.KubernetesVersion, Why: "the upgrade is aborted"})
		}
	}
	slices.SortFunc(flying, natural)
	switch {
	case len(flying) > 0:
		return outcome{state: v1alpha1.StateUpgradeAborting, reason: ReasonAborting, waiting: are(flying) + " on the way to a safe point; the others are left as they are"}
	case open > 0:
		return outcome{state: v1alpha1.StateUpgradeAborting, reason: ReasonAborting, waiting: "no node is being changed; what was staged is let go"}
	}
	if late := j.seenLate(); late != "" {
		return outcome{state: v1alpha1.StateUpgradeAborting, reason: ReasonAborting, waiting: late}
	}
	return outcome{state: v1alpha1.StateUpgradeAborted, reason: ReasonAborted, waiting: summary(j)}
}

// lateBy is how long a node may be seen as it was before its upgrade ended. Later somebody else changed it.
const lateBy = time.Minute

// seenLate names a node whose upgrade is complete, but which is not yet seen at its version; empty where there is none. What an abort
// says of the nodes stays as it is.
func (j *journey) seenLate() string {
	for _, nu := range j.Cluster.NodeUpgrades {
		if nu.Labels[v1alpha1.LabelUpgrade] != j.owner.name || nu.Status.Phase != v1alpha1.NodeCompleted ||
			nu.Status.FinishedAt == nil || j.Cluster.Now.Sub(nu.Status.FinishedAt.Time) > lateBy {
			continue
		}
		n := j.Cluster.Node(nodeOf(nu))
		if n == nil || n.UID != nu.Status.NodeUID {
			continue
		}
		switch to := nu.Spec.KubernetesVersion; {
		case !version.Runs(n, to):
			return fmt.Sprintf("%s was upgraded to %s, but is still seen at %s", n.Name, to, cmp.Or(version.OfNode(n), "an unknown version"))
		case n.CordonedBy == string(nu.UID):
			return n.Name + " was upgraded, but is still seen cordoned by its upgrade"
		}
	}
	return ""
}

// mostFailures are told of in a summary; the others are counted.
const mostFailures = 3

// summary says which nodes an aborted upgrade left at which version, the new ones first, and why the others are not new.
func summary(j *journey) string {
	var fresh, old, failures []string
	byVersion := map[string][]string{}
	for _, n := range j.notes() {
		node := j.Cluster.Node(n.Node)
		v := cmp.Or(version.OfNode(node), "an unknown version")
		switch {
		case version.Runs(node, j.hops[len(j.hops)-1]):
			fresh = append(fresh, n.Node)
		case n.State == NodeFailed:
			failures = append(failures, fmt.Sprintf("%s failed, and is at %s: %s", n.Node, v, n.Reason))
		case n.State == NodeSkipped:
			failures = append(failures, fmt.Sprintf("%s was skipped, and is at %s: %s", n.Node, v, n.Reason))
		default:
			if byVersion[v] == nil {
				old = append(old, v)
			}
			byVersion[v] = append(byVersion[v], n.Node)
		}
	}
	var parts []string
	if len(fresh) > 0 {
		parts = append(parts, fmt.Sprintf("%s at %s", brief(fresh), j.hops[len(j.hops)-1]))
	}
	version.Sort(old)
	for _, v := range old {
		parts = append(parts, fmt.Sprintf("%s left at %s", brief(byVersion[v]), v))
	}
	if more := len(failures) - mostFailures; more > 0 {
		failures = append(failures[:mostFailures], fmt.Sprintf("and %d more that failed or were skipped: see `refit nodes -o wide`", more))
	}
	return strings.Join(append(parts, failures...), "; ")
}

// brief lists a few names, or counts many.
func brief(names []string) string {
	if len(names) > 5 {
		return fmt.Sprintf("%d nodes", len(names))
	}
	return strings.Join(names, ", ")
}
