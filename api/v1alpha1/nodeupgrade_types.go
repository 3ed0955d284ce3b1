package v1alpha1

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// NodeType is a node's role.
// +kubebuilder:validation:Enum=ControlPlane;Worker
type NodeType string

// The roles of a node.
const (
	NodeTypeControlPlane NodeType = "ControlPlane"
	NodeTypeWorker       NodeType = "Worker"
)

// StepName is a step of a node's upgrade, and the name of its container.
type StepName string

// The steps, in the order in which a control plane takes them.
const (
	StepPreflight    StepName = "preflight"
	StepCopyBinaries StepName = "copy-binaries"
	StepPullImages   StepName = "pull-images"
	StepBackupEtcd   StepName = "backup-etcd"
	StepContainerd   StepName = "containerd"
	StepCNIPlugins   StepName = "cni-plugins"
	StepDrain        StepName = "drain"
	StepKubeadm      StepName = "kubeadm"
	StepKubelet      StepName = "kubelet"
	StepVerify       StepName = "verify"
	StepUncordon     StepName = "uncordon"
	StepCleanup      StepName = "cleanup"
)

// The condition types of a NodeUpgrade, each True once its step is done.
const (
	ConditionUpgraderPodCreated = "UpgraderPodCreated"
	// ConditionEtcdCopied: a snapshot of this control plane's etcd member is on another control plane. It stands for no step
	// of this node.
	ConditionEtcdCopied                  = "EtcdCopied"
	ConditionBinariesCopied              = "BinariesCopied"
	ConditionImagesPulled                = "ImagesPulled"
	ConditionEtcdBackedUp                = "EtcdBackedUp"
	ConditionContainerdUpgraded          = "ContainerdUpgraded"
	ConditionCNIPluginsUpgraded          = "CNIPluginsUpgraded"
	ConditionDrained                     = "Drained"
	ConditionKubeadmUpgraded             = "KubeadmUpgraded"
	ConditionKubeletUpgraded             = "KubeletUpgraded"
	ConditionVerified                    = "Verified"
	ConditionPostUpgradeCleanupCompleted = "PostUpgradeCleanupCompleted"
)

// Condition is the condition type that stands for the step, empty for a step without one.
func (s StepName) Condition() string {
	return map[StepName]string{
		StepCopyBinaries: ConditionBinariesCopied,
		StepPullImages:   ConditionImagesPulled,
		StepBackupEtcd:   ConditionEtcdBackedUp,
		StepContainerd:   ConditionContainerdUpgraded,
		StepCNIPlugins:   ConditionCNIPluginsUpgraded,
		StepDrain:        ConditionDrained,
		StepKubeadm:      ConditionKubeadmUpgraded,
		StepKubelet:      ConditionKubeletUpgraded,
		StepVerify:       ConditionVerified,
		StepCleanup:      ConditionPostUpgradeCleanupCompleted,
	}[s]
}

// DrainTimeoutAction says what happens when a node's pods are not gone in time.
// +kubebuilder:validation:Enum=Fail;Skip;Force
type DrainTimeoutAction string

// What a drain that takes too long leads to.
const (
	// DrainFail uncordons the node, fails its upgrade and so stops the rollout.
	DrainFail DrainTimeoutAction = "Fail"
	// DrainSkip uncordons the node, leaves it at the old version and goes on with the others.
	DrainSkip DrainTimeoutAction = "Skip"
	// DrainForce deletes the pods that are left, past their PodDisruptionBudget.
	DrainForce DrainTimeoutAction = "Force"
)

// DrainMode says whether pods are moved away from a node before it changes.
// +kubebuilder:validation:Enum=Auto;Always;Never
type DrainMode string

// When a node is drained.
const (
	// DrainAuto drains where the change restarts containers, and there is another node for the pods.
	DrainAuto DrainMode = "Auto"
	// DrainAlways drains for every change.
	DrainAlways DrainMode = "Always"
	// DrainNever drains for none.
	DrainNever DrainMode = "Never"
)

// DrainPolicy says how pods are moved away from a node.
type DrainPolicy struct {
	// mode is Auto (default), Always or Never.
	// +kubebuilder:default=Auto
	// +optional
	Mode DrainMode `json:"mode,omitempty"`
	// timeout bounds the whole drain of one node. Default 10m.
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^(0|([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+)$`
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="duration(self) <= duration('8760h')",message="must not be above 8760h"
	// +kubebuilder:default="10m"
	// +optional
	Timeout *metav1.Duration `json:"timeout,omitempty"`
	// gracePeriodSeconds replaces the pods' own grace period where it is longer. Default: the pods' own.
	// +kubebuilder:validation:Minimum=0
	// +optional
	GracePeriodSeconds *int64 `json:"gracePeriodSeconds,omitempty"`
	// onTimeout is Fail (default), Skip or Force.
	// +kubebuilder:default=Fail
	// +optional
	OnTimeout DrainTimeoutAction `json:"onTimeout,omitempty"`
}

// NodeUpgradeSpec is what is to become of one node (seed: eksa-in-place-upgrades).
type NodeUpgradeSpec struct {
	// machine is the node: a Node, or a Cluster API Machine.
	Machine corev1.ObjectReference `json:"machine"`
	// kubernetesVersion to bring it to, e.g. v1.36.3. A KubernetesVersion of that name must exist.
	// +kubebuilder:validation:Pattern=`^v1\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$`
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="spec.kubernetesVersion cannot be changed: delete this NodeUpgrade and create another"
	KubernetesVersion string `json:"kubernetesVersion"`
	// etcdVersion that kubeadm of that version installs.
	// +optional
	EtcdVersion *string `json:"etcdVersion,omitempty"`
	// nodeType is ControlPlane or Worker.
	NodeType NodeType `json:"nodeType"`
	// firstNodeToBeUpgraded says that this is the first control plane: it runs `kubeadm upgrade apply`, the others
	// `kubeadm upgrade node`. Ignored for workers.
	// +optional
	FirstNodeToBeUpgraded bool `json:"firstNodeToBeUpgraded,omitempty"`
	// hold stops after the staging steps (to pull-images), before the node is taken out of service, until it is lifted.
	// +optional
	Hold bool `json:"hold,omitempty"`
	// drain says how pods are moved away.
	// +optional
	Drain *DrainPolicy `json:"drain,omitempty"`
	// abort ends the upgrade at the next safe point: before the node is changed, or else once it is whole again.
	// +optional
	Abort bool `json:"abort,omitempty"`
	// retry counts the times that a person has asked for a failed node to be tried again; raising it asks again.
	// +kubebuilder:validation:Minimum=0
	// +optional
	Retry int64 `json:"retry,omitempty"`
}

// NodeUpgradePhase sums a NodeUpgrade up.
// +kubebuilder:validation:Enum=Pending;Staging;Staged;Upgrading;Completed;Failed;Skipped;Aborted
type NodeUpgradePhase string

// The phases of a NodeUpgrade.
const (
	// NodePending: nothing has been done yet.
	NodePending NodeUpgradePhase = "Pending"
	// NodeStaging: programs and images are being brought to the node, which is in service.
	NodeStaging NodeUpgradePhase = "Staging"
	// NodeStaged: everything is on the node, and spec.hold holds it there.
	NodeStaged NodeUpgradePhase = "Staged"
	// NodeUpgrading: the node is being changed, or is about to be.
	NodeUpgrading NodeUpgradePhase = "Upgrading"
	// NodeCompleted: the node runs the version, is Ready and in service.
	NodeCompleted NodeUpgradePhase = "Completed"
	// NodeFailed: every attempt failed. The Ready condition says at which step and why.
	NodeFailed NodeUpgradePhase = "Failed"
	// NodeSkipped: the drain policy left the node at the old version.
	NodeSkipped NodeUpgradePhase = "Skipped"
	// NodeAborted: the upgrade ended before the node was changed.
	NodeAborted NodeUpgradePhase = "Aborted"
)

// Ended says whether nothing more will be done to the node unless a person asks for it.
func (p NodeUpgradePhase) Ended() bool {
	switch p {
	case NodeCompleted, NodeFailed, NodeSkipped, NodeAborted:
		return true
	}
	return false
}

// StepState is where a step stands.
// +kubebuilder:validation:Enum=Pending;Running;Succeeded;Failed
type StepState string

// The states of a step.
const (
	StepPending   StepState = "Pending"
	StepRunning   StepState = "Running"
	StepSucceeded StepState = "Succeeded"
	StepFailed    StepState = "Failed"
)

// StepStatus is where one step stands.
type StepStatus struct {
	// name of the step.
	Name StepName `json:"name"`
	// state of the step in the latest attempt.
	State StepState `json:"state"`
	// attempt counts the Pods that have begun this step, the one that stages included, from 1.
	// +optional
	Attempt int32 `json:"attempt,omitempty"`
	// startedAt is when the latest attempt of the step began.
	// +optional
	StartedAt *metav1.Time `json:"startedAt,omitempty"`
	// finishedAt is when the latest attempt of the step ended.
	// +optional
	FinishedAt *metav1.Time `json:"finishedAt,omitempty"`
	// message is what the step last said: what it did, or why it failed. At most 1024 characters.
	// +kubebuilder:validation:MaxLength=1024
	// +optional
	Message string `json:"message,omitempty"`
}

// NodeUpgradeStatus is where the node stands.
type NodeUpgradeStatus struct {
	// conditions: one per step, and Ready as their summary.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// completed says that the node runs the version, is Ready and in service.
	// +optional
	Completed bool `json:"completed,omitempty"`
	// phase sums the status up.
	// +optional
	Phase NodeUpgradePhase `json:"phase,omitempty"`
	// step is the step under way, or the one that failed.
	// +optional
	Step StepName `json:"step,omitempty"`
	// steps in their order.
	// +listType=map
	// +listMapKey=name
	// +optional
	Steps []StepStatus `json:"steps,omitempty"`
	// fromVersion is the kubelet's version when the upgrade began.
	// +optional
	FromVersion string `json:"fromVersion,omitempty"`
	// nodeUID is the UID of the Node when the upgrade began: another node of the same name is not this one.
	// +optional
	NodeUID string `json:"nodeUID,omitempty"`
	// attempts counts the upgrader Pods that failed since the last retry that a person asked for.
	// +optional
	Attempts int32 `json:"attempts,omitempty"`
	// interruptions counts the upgrader Pods that were cut off (power, a kubelet restart, an API server that was away) and started again.
	// +optional
	Interruptions int32 `json:"interruptions,omitempty"`
	// pod is the name of the latest upgrader Pod, for kubectl logs.
	// +optional
	Pod string `json:"pod,omitempty"`
	// podUID is the UID of the latest upgrader Pod that was seen.
	// +optional
	PodUID string `json:"podUID,omitempty"`
	// countedPodUID is the UID of the latest upgrader Pod whose end is counted in attempts or interruptions, so that none
	// counts twice.
	// +optional
	CountedPodUID string `json:"countedPodUID,omitempty"`
	// retried is the spec.retry that was last acted on.
	// +optional
	Retried int64 `json:"retried,omitempty"`
	// startedAt is when the first upgrader Pod was created.
	// +optional
	StartedAt *metav1.Time `json:"startedAt,omitempty"`
	// finishedAt is when the upgrade of the node ended.
	// +optional
	FinishedAt *metav1.Time `json:"finishedAt,omitempty"`
	// observedGeneration is the generation of the spec that the status was worked out from.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
}

// NodeUpgrade brings one node to a Kubernetes version, in place.
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=nu
// +kubebuilder:selectablefield:JSONPath=`.spec.hold`
// +kubebuilder:selectablefield:JSONPath=`.status.completed`
// +kubebuilder:validation:XValidation:rule="!has(self.spec.hold) || !self.spec.hold || (has(oldSelf.spec.hold) && oldSelf.spec.hold) || !has(oldSelf.status) || !has(oldSelf.status.phase) || oldSelf.status.phase != 'Upgrading'",message="spec.hold cannot hold a node that is being upgraded: use spec.abort"
// +kubebuilder:printcolumn:name="Node",type=string,JSONPath=`.spec.machine.name`
// +kubebuilder:printcolumn:name="From",type=string,JSONPath=`.status.fromVersion`
// +kubebuilder:printcolumn:name="To",type=string,JSONPath=`.spec.kubernetesVersion`
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=`.status.phase`
// +kubebuilder:printcolumn:name="Step",type=string,JSONPath=`.status.step`
// +kubebuilder:printcolumn:name="Message",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].message`,priority=1
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type NodeUpgrade struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   NodeUpgradeSpec   `json:"spec"`
	Status NodeUpgradeStatus `json:"status,omitempty"`
}

// NodeUpgradeList is a list of NodeUpgrades.
// +kubebuilder:object:root=true
type NodeUpgradeList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []NodeUpgrade `json:"items"`
}

// Touched says whether a step that changes the node has ever begun: from then on the way to a whole node is forward.
func (s *NodeUpgradeStatus) Touched() bool {
	for _, step := range s.Steps {
		switch step.Name {
		case StepPreflight, StepCopyBinaries, StepPullImages, StepBackupEtcd:
		default:
			if step.Attempt > 0 {
				return true
			}
		}
	}
	return false
}

// Uncordoned says whether the node takes pods again, as far as its upgrade is concerned: what is left to do only tidies up.
func (s *NodeUpgradeStatus) Uncordoned() bool {
	return slices.ContainsFunc(s.Steps, func(step StepStatus) bool { return step.Name == StepUncordon && step.State == StepSucceeded })
}

// Reason is that of the Ready condition, empty where there is none yet.
func (s *NodeUpgradeStatus) Reason() string {
	if c := meta.FindStatusCondition(s.Conditions, ConditionReady); c != nil {
		return c.Reason
	}
	return ""
}
