package rollout

import (
	"cmp"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/gate"
	"refit.dev/refit/internal/snapshot"
	"refit.dev/refit/internal/version"
)

func typesUID(s string) types.UID { return types.UID(s) }

func countWorkers(c *snapshot.Cluster) int {
	n := 0
	for i := range c.Nodes {
		if !c.Nodes[i].ControlPlane {
			n++
		}
	}
	return n
}

// settle writes an outcome into the status.
func (d *Decision) settle(in Input, j *journey, o outcome) {
	if j != nil {
		d.Nodes = j.notes()
		d.Status.Groups = j.groupStatus(o.lost)
		d.Passed = passed(in.Upgrade.Status, o.state, j)
	} else if o.state != in.Upgrade.Status.State {
		d.Passed = []v1alpha1.UpgradeState{o.state}
	}
	d.Status.State, d.Status.Waiting = o.state, o.waiting
	if o.state == v1alpha1.StateUpgradeComplete {
		d.Status.Waiting = ""
	}
	if ends(o.state) && d.Status.CompletedAt == nil {
		d.Status.CompletedAt = &metav1.Time{Time: in.Cluster.Now}
	}
	d.recount(in, j)
	d.conditions(in, o)
}

func ends(s v1alpha1.UpgradeState) bool {
	return s == v1alpha1.StateUpgradeComplete || s == v1alpha1.StateUpgradeAborted
}

// conditions sets what `kubectl wait` waits for.
func (d *Decision) conditions(in Input, o outcome) {
	u := in.Upgrade
	set := func(kind string, yes bool, reason, message string) {
		c := metav1.Condition{Type: kind, Status: metav1.ConditionFalse, Reason: reason, Message: message}
		if yes {
			c.Status = metav1.ConditionTrue
		}
		setCondition(&d.Status.Conditions, c, in.Cluster, u.Generation)
	}
	reason, message := cmp.Or(o.reason, ReasonUpgrading), o.waiting
	switch o.state {
	case v1alpha1.StateUpgradeComplete:
		message = fmt.Sprintf("%d nodes run %s", d.Status.Nodes.Total, u.Spec.ToVersion)
	case v1alpha1.StateUpgradeFailed:
		if c := meta.FindStatusCondition(u.Status.Conditions, v1alpha1.ConditionReady); message == "" && c != nil {
			message = c.Message
		}
	}
	set(v1alpha1.ConditionReady, o.state == v1alpha1.StateUpgradeComplete, reason, message)
	going := !ends(o.state) && o.state != v1alpha1.StateUpgradeFailed && !u.Spec.Paused
	set(v1alpha1.ConditionProgressing, going, reason, message)
	set(v1alpha1.ConditionPaused, u.Spec.Paused, pausedReason(u.Spec.Paused), "")
	if o.state == v1alpha1.StateUpgradeComplete || d.Gates != nil {
		why := gate.Summary(d.Gates)
		set(v1alpha1.ConditionGatesOpen, why == "", gatesReason(why), cmp.Or(why, "no gate holds the upgrade up"))
		return
	}
	d.mastersGates(in)
}

// mastersGates repeats what the ControlPlaneUpgrade of the hop says of its gates.
func (d *Decision) mastersGates(in Input) {
	for i := range in.Cluster.ControlPlaneUpgrades {
		cp := &in.Cluster.ControlPlaneUpgrades[i]
		if cp.Name != ControlPlaneName(in.Upgrade.Name, d.Status.Hop) {
			continue
		}
		if c := meta.FindStatusCondition(cp.Status.Conditions, v1alpha1.ConditionGatesOpen); c != nil {
			setCondition(&d.Status.Conditions, *c, in.Cluster, in.Upgrade.Generation)
		}
	}
}

func pausedReason(paused bool) string {
	if paused {
		return "AskedFor"
	}
	return "NotPaused"
}

func gatesReason(why string) string {
	if why == "" {
		return "Open"
	}
	return "Closed"
}

// notes are what is known of every node, control planes first.
func (j *journey) notes() []NodeNote {
	all := make([]NodeNote, 0, len(j.masters.nodes)+len(j.workers.nodes))
	return j.workers.list(j.masters.list(all))
}

// claims are those of the cluster, which a journey has in order already.
func (d *Decision) claims(in Input, j *journey) claims {
	if j != nil {
		return j.claims
	}
	return claimsOf(in.Cluster)
}

// recount counts the nodes. What this decision begins is in progress already, so that the status differs from the one before: it
// is written, by its resourceVersion, before anything is begun, and whoever decided on the same observation then fails to.
func (d *Decision) recount(in Input, j *journey) {
	counts := v1alpha1.NodeCounts{Total: int32(len(in.Cluster.Nodes))}
	cl := d.claims(in, j)
	for i := range in.Cluster.Nodes {
		n := &in.Cluster.Nodes[i]
		if version.Runs(n, in.Upgrade.Spec.ToVersion) && n.Ready && n.CordonedBy == "" && !slices.ContainsFunc(cl[n.Name], inFlight) {
			counts.Upgraded++
		}
	}
	if j == nil {
		for i := range in.Cluster.Nodes {
			if !in.Cluster.Nodes[i].InService() {
				counts.Unavailable++
			}
		}
		d.Status.Nodes = counts
		return
	}
	for _, f := range []*field{j.masters, j.workers} {
		counts.Staged += int32(len(f.in(NodeStaged)))
		counts.InProgress += int32(len(f.in(NodeInFlight)))
		counts.Failed += int32(len(f.in(NodeFailed)))
		for i := range f.nodes {
			s := &f.nodes[i]
			out, begun := (s.out(cl) || s.leftHalfway()) && !s.back(), f.begun(s)
			if out || begun {
				counts.Unavailable++
			}
			if begun {
				counts.InProgress++
			}
			if begun && s.state == NodeStaged {
				counts.Staged--
			}
		}
	}
	d.Status.Nodes = counts
}
