// Package rollout decides which node is next, and says for every other node why it is not. It is pure: a decision is a
// function of one observation, the upgrade and its plan. Controllers carry the actions out; `refit plan` plays the same
// functions forward over imagined observations.
package rollout

import (
	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/gate"
	"refit.dev/refit/internal/snapshot"
)

// Input is what Decide looks at.
type Input struct {
	// Cluster as it was just observed. Where anything is to be begun, its NodeUpgrades must not come from a cache alone, which may be behind.
	Cluster *snapshot.Cluster
	// Upgrade to decide on.
	Upgrade *v1alpha1.KubernetesUpgrade
	// Networking is where the networking step stands.
	Networking Networking
	// Verifications are where the verification Jobs of groups stand, by the group's name.
	Verifications map[string]Verification
}

// Verification is where the verification Job of a group stands.
type Verification struct {
	// Done says that it succeeded.
	Done bool
	// Failed says why it did not; empty while it may.
	Failed string
	// Resume is the spec.resume under which it was begun: a failure under an earlier one is forgotten.
	Resume int64
}

// Networking is where the networking step of a version stands.
type Networking struct {
	// Version whose step this is about; empty while none has been started.
	Version string
	// Done says that it is finished and well.
	Done bool
	// Failed says why it will not finish by itself; empty while it may.
	Failed string
	// Resume is the spec.resume under which the step was begun: a failure under an earlier one is forgotten.
	Resume int64
}

// Decision is what is to become of a KubernetesUpgrade.
type Decision struct {
	// Status to write, whole: conditions and counts included.
	Status v1alpha1.KubernetesUpgradeStatus
	// Passed are the states between the recorded one and Status.State, the latter included; empty where nothing changed.
	// Each deserves an event.
	Passed []v1alpha1.UpgradeState
	// Actions to carry out, in this order. Each is safe to repeat.
	Actions []Action
	// Gates are the verdicts asked for this decision.
	Gates []gate.Verdict
	// Nodes says for every node where it stands, control planes first, in natural order of their names.
	Nodes []NodeNote
}

// ControlPlaneInput is what DecideControlPlane looks at.
type ControlPlaneInput struct {
	Cluster *snapshot.Cluster
	Upgrade *v1alpha1.ControlPlaneUpgrade
}

// ControlPlaneDecision is what is to become of a ControlPlaneUpgrade.
type ControlPlaneDecision struct {
	// Status to write, whole.
	Status v1alpha1.ControlPlaneUpgradeStatus
	// Actions to carry out: Stage and Forget of several nodes, Start or Retry of at most one.
	Actions []Action
	// Gates are the verdicts for the next control plane; nil where none is next.
	Gates []gate.Verdict
	// Nodes says for every machine of the spec where it stands.
	Nodes []NodeNote
}

// ActionKind says what to do.
type ActionKind string

// The kinds of actions.
const (
	// ApplyControlPlane creates or updates the ControlPlaneUpgrade Action.Name with Action.ControlPlane, and sets its
	// annotation refit.dev/resume to Action.Resume.
	ApplyControlPlane ActionKind = "ApplyControlPlane"
	// Stage creates the NodeUpgrade Action.Name with spec.hold, and sets its annotation refit.dev/resume to Action.Resume.
	Stage ActionKind = "Stage"
	// Start lifts spec.hold of the NodeUpgrade Action.Name, by its resourceVersion, and sets spec.firstNodeToBeUpgraded to
	// Action.First. This is what takes a node out of service.
	Start ActionKind = "Start"
	// Retry lifts spec.hold and spec.abort of the NodeUpgrade Action.Name, raises spec.retry by one, sets
	// spec.firstNodeToBeUpgraded to Action.First and the annotation refit.dev/resume to Action.Resume, in one update by
	// its resourceVersion.
	Retry ActionKind = "Retry"
	// Abort sets spec.abort of the NodeUpgrade Action.Name.
	Abort ActionKind = "Abort"
	// Forget deletes the ended NodeUpgrade Action.Name: it belongs to an earlier upgrade, or to an earlier node of that name.
	Forget ActionKind = "Forget"
	// RunNetworking starts or goes on with the networking step of Action.Version.
	RunNetworking ActionKind = "RunNetworking"
	// RunVerification starts or goes on with the verification Job of the group Action.Name.
	RunVerification ActionKind = "RunVerification"
)

// Action is one thing to do.
type Action struct {
	Kind ActionKind `json:"kind"`
	// Node that it is about, empty for ApplyControlPlane, RunNetworking and RunVerification.
	Node string `json:"node,omitempty"`
	// Name of the object to act on.
	Name string `json:"name,omitempty"`
	// Version that the node or the networking is brought to.
	Version string `json:"version,omitempty"`
	// First says that the node is the first control plane of its hop, which runs `kubeadm upgrade apply`.
	First bool `json:"first,omitempty"`
	// Resume is the spec.resume of the upgrade that the action belongs to.
	Resume int64 `json:"resume,omitempty"`
	// ControlPlane is the spec of ApplyControlPlane. Its controlPlane reference is for the controller to fill.
	ControlPlane *v1alpha1.ControlPlaneUpgradeSpec `json:"controlPlane,omitempty"`
	// Drain is the drain policy of the node's group, nil for the plan's.
	Drain *v1alpha1.DrainPolicy `json:"drain,omitempty"`
	// Why in words.
	Why string `json:"why,omitempty"`
}

// NodeState sums up where a node stands in an upgrade.
type NodeState string

// The states of a node.
const (
	// NodeDone runs the version, and its upgrade is over.
	NodeDone NodeState = "Done"
	// NodeInFlight is being upgraded.
	NodeInFlight NodeState = "InFlight"
	// NodeStaging fetches programs and images while in service.
	NodeStaging NodeState = "Staging"
	// NodeStaged has everything on its disk.
	NodeStaged NodeState = "Staged"
	// NodeWaiting has not been begun.
	NodeWaiting NodeState = "Waiting"
	// NodeFailed needs a person.
	NodeFailed NodeState = "Failed"
	// NodeSkipped was left at the old version by the drain policy.
	NodeSkipped NodeState = "Skipped"
	// NodeAborted was left at the old version by an abort.
	NodeAborted NodeState = "Aborted"
)

// NodeNote says where a node stands, and why nothing is done to it now.
type NodeNote struct {
	Node string            `json:"node"`
	Type v1alpha1.NodeType `json:"type"`
	// State of the node in this upgrade.
	State NodeState `json:"state"`
	// From is the version that it runs, To the one that it is next brought to.
	From string `json:"from,omitempty"`
	To   string `json:"to,omitempty"`
	// Action that this decision takes on the node, empty for none.
	Action ActionKind `json:"action,omitempty"`
	// Reason in words: why it is left alone, or what is being done.
	Reason string `json:"reason,omitempty"`
}
