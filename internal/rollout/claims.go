package rollout

import (
	"slices"
	"strconv"
	"strings"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/snapshot"
	"refit.dev/refit/internal/version"
)

// ClaimName is the name of the NodeUpgrade that brings a node to a version. As it is the same whoever computes it, no second
// claim on the node can be made for that version.
func ClaimName(node, version string) string { return node + "-" + version }

// ControlPlaneName is the name of the ControlPlaneUpgrade of one hop of an upgrade.
func ControlPlaneName(upgrade, hop string) string {
	if strings.HasSuffix(upgrade, hop) {
		return upgrade
	}
	return upgrade + "-" + hop
}

// claims finds NodeUpgrades by their node.
type claims map[string][]*v1alpha1.NodeUpgrade

func claimsOf(c *snapshot.Cluster) claims {
	m := make(claims, len(c.NodeUpgrades))
	for i, nu := range c.NodeUpgrades {
		node := nodeOf(nu)
		if others, ok := m[node]; ok {
			m[node] = append(others, nu)
			continue
		}
		m[node] = c.NodeUpgrades[i : i+1 : i+1] // mostly there is one a node: it costs nothing
	}
	return m
}

// nodeOf is the node of a claim, which for a Cluster API machine is named by a label.
func nodeOf(nu *v1alpha1.NodeUpgrade) string {
	if n := nu.Labels[v1alpha1.LabelNode]; n != "" {
		return n
	}
	return nu.Spec.Machine.Name
}

// ended says that nothing more will be done for the claim. A retry that was asked for and has not been taken up yet counts as
// going on.
func ended(nu *v1alpha1.NodeUpgrade) bool {
	return nu.Status.Phase.Ended() && (nu.Status.Phase == v1alpha1.NodeCompleted || nu.Spec.Retry <= nu.Status.Retried)
}

// inFlight says that the node of the claim is being changed, or may be at any moment.
func inFlight(nu *v1alpha1.NodeUpgrade) bool {
	if ended(nu) {
		return false
	}
	return !nu.Spec.Hold || nu.Status.Phase == v1alpha1.NodeUpgrading
}

// staging says that the claim fetches what it needs, or is about to.
func staging(nu *v1alpha1.NodeUpgrade) bool {
	return !ended(nu) && !inFlight(nu) && nu.Status.Phase != v1alpha1.NodeStaged
}

// untouched says that a claim ended before its node was changed or taken out of service.
func untouched(nu *v1alpha1.NodeUpgrade) bool {
	return nu.Status.Phase == v1alpha1.NodeSkipped || nu.Status.Phase == v1alpha1.NodeAborted || !nu.Status.Touched()
}

// resumeOf is the spec.resume under which an object was last begun, 0 where that is not recorded.
func resumeOf(annotations map[string]string) int64 {
	n, err := strconv.ParseInt(annotations[v1alpha1.AnnotationResume], 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// owner is whose claims are looked at.
type owner struct {
	// name is the value of the label refit.dev/upgrade.
	name string
	// resume of the upgrade: what failed under an earlier one may be tried again.
	resume int64
}

// standing is where one node stands on its way to one version.
type standing struct {
	node *snapshot.Node
	to   string
	// claim of the owner on the node for that version, nil while there is none.
	claim *v1alpha1.NodeUpgrade
	// old is an ended claim that has the name that the owner's needs.
	old *v1alpha1.NodeUpgrade
	// busy is somebody else's claim on the node that has not ended.
	busy  *v1alpha1.NodeUpgrade
	state NodeState
	// again says that the claim ended badly under an earlier resume, and may be retried.
	again bool
}

// stand works out where a node stands.
func (cl claims) stand(n *snapshot.Node, to string, o owner) standing {
	s := standing{node: n, to: to, state: NodeWaiting}
	for _, nu := range cl[n.Name] {
		sameNode := nu.Status.NodeUID == "" || nu.Status.NodeUID == n.UID
		switch {
		case nu.Spec.KubernetesVersion == to && nu.Labels[v1alpha1.LabelUpgrade] == o.name && sameNode && nu.DeletionTimestamp == nil && !undone(nu, n, o):
			s.claim = nu
		case !ended(nu) || nu.DeletionTimestamp != nil:
			s.busy = nu
		case nu.Name == ClaimName(n.Name, to):
			s.old = nu
		}
	}
	switch {
	case s.busy != nil && inFlight(s.busy):
		s.state = NodeInFlight
	case s.claim != nil:
		s.byClaim(o)
	case version.Runs(n, to) && n.CordonedBy == "":
		s.state = NodeDone
	}
	return s
}

// undone says that a node was brought to the version, and that somebody took it elsewhere before the upgrade was resumed.
func undone(nu *v1alpha1.NodeUpgrade, n *snapshot.Node, o owner) bool {
	if nu.Status.Phase != v1alpha1.NodeCompleted || resumeOf(nu.Annotations) >= o.resume || version.Runs(n, nu.Spec.KubernetesVersion) {
		return false
	}
	return !n.ControlPlane || version.ControlPlane(n) != "" // one that cannot be seen may run it
}

func (s *standing) byClaim(o owner) {
	nu := s.claim
	switch {
	case inFlight(nu):
		s.state = NodeInFlight
	case !ended(nu) && nu.Status.Phase == v1alpha1.NodeStaged:
		s.state = NodeStaged
	case !ended(nu):
		s.state = NodeStaging
	case nu.Status.Phase == v1alpha1.NodeCompleted:
		s.state = NodeDone
	case resumeOf(nu.Annotations) < o.resume && version.Runs(s.node, s.to) && s.node.CordonedBy == "":
		s.state = NodeDone // it failed after all that matters was done
	case resumeOf(nu.Annotations) < o.resume:
		s.again = true
	default:
		s.state = map[v1alpha1.NodeUpgradePhase]NodeState{
			v1alpha1.NodeFailed: NodeFailed, v1alpha1.NodeSkipped: NodeSkipped, v1alpha1.NodeAborted: NodeAborted,
		}[nu.Status.Phase]
	}
}

// out says that the node is out of service, or may be at any moment because of an upgrade, or was left half-way by this one and is to be
// tried again. One that failed, and that nobody tries again, counts as what it is.
func (s *standing) out(cl claims) bool {
	if !s.node.InService() || slices.ContainsFunc(cl[s.node.Name], inFlight) {
		return true
	}
	return s.again && s.leftHalfway()
}

// leftHalfway says that the node failed after it was changed, and is not at the version: the status counts it as out.
func (s *standing) leftHalfway() bool {
	return s.claim != nil && s.claim.Status.Phase == v1alpha1.NodeFailed && !untouched(s.claim) && !version.Runs(s.node, s.to)
}

// back says that the node is in service again although its claim goes on: what is left to do takes nothing away. The planner
// counts it as out all the same until the claim has ended.
func (s *standing) back() bool {
	return s.busy == nil && s.claim != nil && s.node.InService() && version.Runs(s.node, s.to) && s.claim.Status.Uncordoned()
}

// halfway says that an earlier attempt left the node between two versions.
func (s *standing) halfway() bool {
	return s.again && !untouched(s.claim)
}
