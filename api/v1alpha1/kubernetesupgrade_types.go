package v1alpha1

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// UpgradeMode says who asks for the next step.
// +kubebuilder:validation:Enum=Automatic;Manual
type UpgradeMode string

// The modes of a KubernetesUpgrade.
const (
	// ModeAutomatic goes on by itself as long as the gates are open.
	ModeAutomatic UpgradeMode = "Automatic"
	// ModeManual waits before each step until spec.requests asks for it, as the seed's operator does.
	ModeManual UpgradeMode = "Manual"
)

// UpgradeState is where an upgrade stands (seed: starlingx-kubernetes-upgrades).
// +kubebuilder:validation:Enum=upgrade-started;upgrading-first-master;upgraded-first-master;upgrading-networking;upgraded-networking;upgrading-second-master;upgraded-second-master;upgrading-kubelets;upgrade-complete;upgrade-failed;upgrade-aborting;upgrade-aborted
type UpgradeState string

// The states of a KubernetesUpgrade. "Second master" stands for every control plane after the first.
const (
	StateUpgradeStarted        UpgradeState = "upgrade-started"
	StateUpgradingFirstMaster  UpgradeState = "upgrading-first-master"
	StateUpgradedFirstMaster   UpgradeState = "upgraded-first-master"
	StateUpgradingNetworking   UpgradeState = "upgrading-networking"
	StateUpgradedNetworking    UpgradeState = "upgraded-networking"
	StateUpgradingSecondMaster UpgradeState = "upgrading-second-master"
	StateUpgradedSecondMaster  UpgradeState = "upgraded-second-master"
	StateUpgradingKubelets     UpgradeState = "upgrading-kubelets"
	StateUpgradeComplete       UpgradeState = "upgrade-complete"
	// StateUpgradeFailed needs a person: the reason is in the Ready condition. spec.resume starts it again from what runs.
	StateUpgradeFailed UpgradeState = "upgrade-failed"
	// StateUpgradeAborting: nodes in flight reach a safe point, nothing new starts.
	StateUpgradeAborting UpgradeState = "upgrade-aborting"
	// StateUpgradeAborted: nothing is in flight any more; status.nodes and the NodeUpgrades say which nodes are new.
	StateUpgradeAborted UpgradeState = "upgrade-aborted"
)

// RequestedStep is a step that a person asks for in Manual mode.
// +kubebuilder:validation:Enum=control-plane;networking;kubelet
type RequestedStep string

// The steps that can be asked for.
const (
	// RequestControlPlane upgrades one control plane.
	RequestControlPlane RequestedStep = "control-plane"
	// RequestNetworking applies the version's networking manifests.
	RequestNetworking RequestedStep = "networking"
	// RequestKubelet upgrades one worker.
	RequestKubelet RequestedStep = "kubelet"
)

// StepRequest asks for one step of a Manual upgrade.
// +kubebuilder:validation:XValidation:rule="self.step == 'networking' ? !has(self.node) : has(self.node)",message="node is required for control-plane and kubelet, and not allowed for networking"
type StepRequest struct {
	// step to take.
	Step RequestedStep `json:"step"`
	// node to take it on.
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:MinLength=1
	// +optional
	Node string `json:"node,omitempty"`
	// version of the hop that the step belongs to. Default: the hop now being installed.
	// +kubebuilder:validation:MaxLength=63
	// +optional
	Version string `json:"version,omitempty"`
}

// KubernetesUpgradeSpec is what a person asks for.
type KubernetesUpgradeSpec struct {
	// toVersion names the KubernetesVersion to bring every node to.
	// +kubebuilder:validation:Pattern=`^v1\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$`
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="spec.toVersion cannot be changed: abort this upgrade and start another"
	ToVersion string `json:"toVersion"`
	// mode is Automatic (default) or Manual.
	// +kubebuilder:default=Automatic
	// +optional
	Mode UpgradeMode `json:"mode,omitempty"`
	// plan names a RolloutPlan. Without one a sound default applies: one worker at a time out of service, every node staged
	// ahead, pods drained for a minor version.
	// +kubebuilder:validation:MaxLength=253
	// +optional
	Plan string `json:"plan,omitempty"`
	// paused starts nothing new; what is in flight is finished.
	// +optional
	Paused bool `json:"paused,omitempty"`
	// abort lets the nodes in flight reach a safe point and ends the upgrade there.
	// +optional
	Abort bool `json:"abort,omitempty"`
	// resume counts the times that a person has asked a failed or aborted upgrade to go on; raising it asks again.
	// +kubebuilder:validation:Minimum=0
	// +optional
	Resume int64 `json:"resume,omitempty"`
	// requests are the steps asked for in Manual mode, in the order of asking.
	// +kubebuilder:validation:MaxItems=10000
	// +optional
	Requests []StepRequest `json:"requests,omitempty"`
	// approvedGroups are the groups of the plan that a person has let begin.
	// +kubebuilder:validation:MaxItems=100
	// +listType=set
	// +optional
	ApprovedGroups []string `json:"approvedGroups,omitempty"`
	// skip are workers that are left as they are: not begun, and not counted as failed.
	// +kubebuilder:validation:MaxItems=5000
	// +kubebuilder:validation:items:MaxLength=253
	// +listType=set
	// +optional
	Skip []string `json:"skip,omitempty"`
	// excludedGates are gates, by name, that do not hold this upgrade up. They still say what they saw.
	// +kubebuilder:validation:MaxItems=50
	// +listType=set
	// +optional
	ExcludedGates []string `json:"excludedGates,omitempty"`
}

// NodeCounts sums up the nodes of an upgrade.
type NodeCounts struct {
	// total is the number of nodes in the cluster.
	Total int32 `json:"total"`
	// upgraded nodes run the target version, are Ready and in service.
	Upgraded int32 `json:"upgraded"`
	// staged nodes have everything on their disk and wait for their turn.
	Staged int32 `json:"staged"`
	// inProgress nodes are being upgraded now.
	InProgress int32 `json:"inProgress"`
	// failed nodes need a person.
	Failed int32 `json:"failed"`
	// unavailable nodes are out of service for whatever reason, those in progress included until they take pods again.
	Unavailable int32 `json:"unavailable"`
}

// GroupState is where a group of the plan stands.
type GroupState string

// The states of a group.
const (
	// GroupWaiting: the groups before it are not done.
	GroupWaiting GroupState = "Waiting"
	// GroupApproval: it waits for `refit approve`.
	GroupApproval GroupState = "WaitingForApproval"
	// GroupRunning: its nodes are being upgraded.
	GroupRunning GroupState = "Running"
	// GroupSoaking: its nodes are done, and time passes.
	GroupSoaking GroupState = "Soaking"
	// GroupVerifying: its verification Job runs.
	GroupVerifying GroupState = "Verifying"
	// GroupDone: what follows may begin.
	GroupDone GroupState = "Done"
	// GroupAborted: the upgrade was aborted before it was done.
	GroupAborted GroupState = "Aborted"
)

// GroupStatus is where a group of the plan stands.
type GroupStatus struct {
	// name of the group; empty for the workers that no group selects.
	Name string `json:"name"`
	// state of the group.
	State GroupState `json:"state"`
	// total, upgraded and failed count its nodes.
	Total    int32 `json:"total"`
	Upgraded int32 `json:"upgraded"`
	// +optional
	Failed int32 `json:"failed,omitempty"`
	// nodesDoneAt is when its last node was done: the soak counts from then.
	// +optional
	NodesDoneAt *metav1.Time `json:"nodesDoneAt,omitempty"`
	// verified says that its verification Job succeeded.
	// +optional
	Verified bool `json:"verified,omitempty"`
}

// KubernetesUpgradeStatus is where the upgrade stands.
type KubernetesUpgradeStatus struct {
	// fromVersion is what the cluster ran when the upgrade started: the lowest version of any control plane, or, where those were
	// at the version already, of any other node.
	// +optional
	FromVersion string `json:"fromVersion,omitempty"`
	// hops are the versions that the control planes are brought to, in order; the last is spec.toVersion.
	// +optional
	Hops []string `json:"hops,omitempty"`
	// hop is the version now being installed.
	// +optional
	Hop string `json:"hop,omitempty"`
	// turn counts how often the manager took its turn to begin nodes: of two managers with the same observation, the API server lets only
	// one count on.
	// +optional
	Turn int64 `json:"turn,omitempty"`
	// state of the upgrade.
	// +optional
	State UpgradeState `json:"state,omitempty"`
	// nodes are counted.
	// +optional
	Nodes NodeCounts `json:"nodes,omitempty"`
	// groups of the plan, in their order; none where the plan has none.
	// +listType=map
	// +listMapKey=name
	// +optional
	Groups []GroupStatus `json:"groups,omitempty"`
	// waiting says, in words, what the upgrade waits for now.
	// +optional
	Waiting string `json:"waiting,omitempty"`
	// networkedVersion is the hop whose networking step is done.
	// +optional
	NetworkedVersion string `json:"networkedVersion,omitempty"`
	// resumed is the spec.resume that was last acted on.
	// +optional
	Resumed int64 `json:"resumed,omitempty"`
	// startedAt is when the upgrade started.
	// +optional
	StartedAt *metav1.Time `json:"startedAt,omitempty"`
	// completedAt is when the upgrade ended, well or not.
	// +optional
	CompletedAt *metav1.Time `json:"completedAt,omitempty"`
	// conditions: Ready (the upgrade is complete), Progressing, GatesOpen, Paused.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// observedGeneration is the generation of the spec that the status was worked out from.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
}

// The condition types of a KubernetesUpgrade.
const (
	// ConditionReady is True when all that the object asks for is done.
	ConditionReady = "Ready"
	// ConditionProgressing is True while work is under way or may start.
	ConditionProgressing = "Progressing"
	// ConditionGatesOpen is False while a gate holds the upgrade up; the message names the gate and what it saw.
	ConditionGatesOpen = "GatesOpen"
	// ConditionPaused is True while spec.paused holds the upgrade.
	ConditionPaused = "Paused"
)

// KubernetesUpgrade brings every node of the cluster to a Kubernetes version. At most one is unfinished.
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,shortName=ku
// +kubebuilder:printcolumn:name="From",type=string,JSONPath=`.status.fromVersion`
// +kubebuilder:printcolumn:name="To",type=string,JSONPath=`.spec.toVersion`
// +kubebuilder:printcolumn:name="State",type=string,JSONPath=`.status.state`
// +kubebuilder:printcolumn:name="Upgraded",type=integer,JSONPath=`.status.nodes.upgraded`
// +kubebuilder:printcolumn:name="Nodes",type=integer,JSONPath=`.status.nodes.total`
// +kubebuilder:printcolumn:name="Mode",type=string,JSONPath=`.spec.mode`,priority=1
// +kubebuilder:printcolumn:name="Waiting",type=string,JSONPath=`.status.waiting`,priority=1
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="self.metadata.name.size() <= 63",message="metadata.name must not be longer than 63 characters: it is the value of a label"
type KubernetesUpgrade struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   KubernetesUpgradeSpec   `json:"spec"`
	Status KubernetesUpgradeStatus `json:"status,omitempty"`
}

// KubernetesUpgradeList is a list of KubernetesUpgrades.
// +kubebuilder:object:root=true
type KubernetesUpgradeList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []KubernetesUpgrade `json:"items"`
}

// Finished says whether nothing will happen any more unless a person asks for it: complete, or aborted. A failed upgrade
// is not finished: it holds the cluster between two versions until it is resumed or aborted.
func (u *KubernetesUpgrade) Finished() bool {
	return u.Status.State == StateUpgradeComplete || u.Status.State == StateUpgradeAborted && u.Spec.Resume == u.Status.Resumed
}

// Reason is the reason of the Ready condition, empty while there is none.
func (u *KubernetesUpgrade) Reason() string {
	if c := meta.FindStatusCondition(u.Status.Conditions, ConditionReady); c != nil {
		return c.Reason
	}
	return ""
}
