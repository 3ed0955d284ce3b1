package rollout

import (
	"fmt"
	"strings"

	"refit.dev/refit/api/v1alpha1"
)

// manual says that each step waits until it is asked for.
func (j *journey) manual() bool { return j.Upgrade.Spec.Mode == v1alpha1.ModeManual }

// asked says whether a step has been asked for at the hop under way: by a request that names the hop, or by as many requests
// without a version as there have been hops, as each of them meant the hop of its time.
func (j *journey) asked(step v1alpha1.RequestedStep, node string) bool {
	if !j.manual() {
		return true
	}
	spent := map[string]bool{}
	open := 0
	for _, r := range j.Upgrade.Spec.Requests {
		if r.Step != step || r.Node != node {
			continue
		}
		if r.Version == j.hop() {
			return true
		}
		if r.Version == "" {
			open++
		} else {
			spent[r.Version] = true
		}
	}
	earlier := 0
	for _, h := range j.hops[:min(j.at, len(j.hops)-1)] {
		if !spent[h] && (step != v1alpha1.RequestKubelet || j.wasDue(node, h)) {
			earlier++
		}
	}
	return open > earlier
}

// wasDue says whether the worker was brought to an earlier hop by this upgrade.
func (j *journey) wasDue(node, hop string) bool {
	for _, nu := range j.claims[node] {
		if nu.Spec.KubernetesVersion == hop && nu.Labels[v1alpha1.LabelUpgrade] == j.owner.name {
			return true
		}
	}
	return false
}

// askedMasters are the control planes still to be begun that have been asked for, in the order in which they are taken.
func (j *journey) askedMasters() []*standing {
	var asked []*standing
	for _, s := range j.masters.masters() {
		if j.asked(v1alpha1.RequestControlPlane, s.node.Name) {
			asked = append(asked, s)
		}
	}
	return asked
}

// askedWorkers says whether any worker that is due has been asked for and is not over.
func (j *journey) askedWorkers() bool {
	for _, s := range j.pending() {
		if s.state == NodeInFlight || s.waits() && j.asked(v1alpha1.RequestKubelet, s.node.Name) {
			return true
		}
	}
	return false
}

// misdirected names requests for nodes that do not exist; empty where there are none.
func (j *journey) misdirected() string {
	var lost []string
	for _, r := range j.Upgrade.Spec.Requests {
		if r.Node != "" && j.Cluster.Node(r.Node) == nil {
			lost = append(lost, fmt.Sprintf("%s of %s", r.Step, r.Node))
		}
	}
	if len(lost) == 0 {
		return ""
	}
	return "requests for nodes that do not exist: " + strings.Join(lost, ", ")
}
