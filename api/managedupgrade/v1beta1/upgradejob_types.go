package v1beta1

import (
	"time"

	configv1 "github.com/openshift/api/config/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// DefaultUpgradeTimeout is how long an upgrade may take.
const DefaultUpgradeTimeout = 12 * time.Hour

// TargetKind is what a job upgrades.
// +kubebuilder:validation:Enum=OpenShift;KubernetesUpgrade
type TargetKind string

// The targets.
const (
	// TargetOpenShift sets spec.desiredUpdate of OpenShift's ClusterVersion; OpenShift's operators do the nodes.
	TargetOpenShift TargetKind = "OpenShift"
	// TargetKubernetesUpgrade makes a KubernetesUpgrade.
	TargetKubernetesUpgrade TargetKind = "KubernetesUpgrade"
)

// KubernetesUpgradeOptions are for jobs whose target is KubernetesUpgrade.
type KubernetesUpgradeOptions struct {
	// plan names the RolloutPlan. Default: one worker at a time.
	// +kubebuilder:validation:MaxLength=253
	// +optional
	Plan string `json:"plan,omitempty"`
	// excludedGates are gates, by name, that hold neither the job nor the upgrade up.
	// +kubebuilder:validation:MaxItems=50
	// +listType=set
	// +optional
	ExcludedGates []string `json:"excludedGates,omitempty"`
}

// UpgradeJobConfig says how a job upgrades.
type UpgradeJobConfig struct {
	// upgradeTimeout is how long the job may take from its start; after that it fails as TimedOut. Default: 12h.
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^(0|([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+)$`
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="duration(self) <= duration('87600h')",message="must not be above 87600h"
	// +kubebuilder:default="12h"
	// +optional
	UpgradeTimeout *metav1.Duration `json:"upgradeTimeout,omitempty"`
	// preUpgradeHealthChecks must hold before anything is changed.
	// +optional
	PreUpgradeHealthChecks UpgradeJobHealthCheck `json:"preUpgradeHealthChecks,omitempty"`
	// postUpgradeHealthChecks must hold after the upgrade.
	// +optional
	PostUpgradeHealthChecks UpgradeJobHealthCheck `json:"postUpgradeHealthChecks,omitempty"`
	// machineConfigPools delays the nodes of pools (OpenShift).
	// +kubebuilder:validation:MaxItems=50
	// +optional
	MachineConfigPools []UpgradeJobMachineConfigPoolSpec `json:"machineConfigPools,omitempty"`
	// pauseMachineConfigPoolsOnFailure pauses pools when the job fails, so that nothing more happens to their nodes (OpenShift).
	// +optional
	PauseMachineConfigPoolsOnFailure *PauseMachineConfigPoolsOnFailure `json:"pauseMachineConfigPoolsOnFailure,omitempty"`
	// target is what is upgraded. Default: OpenShift where the cluster serves its API, KubernetesUpgrade everywhere else.
	// +optional
	Target TargetKind `json:"target,omitempty"`
	// kubernetesUpgrade is for the target of that name.
	// +optional
	KubernetesUpgrade *KubernetesUpgradeOptions `json:"kubernetesUpgrade,omitempty"`
}

// UpgradeJobMachineConfigPoolSpec delays pools.
type UpgradeJobMachineConfigPoolSpec struct {
	// matchLabels selects pools, either by labels alone (seed) or by a whole label selector (the existing controller). An empty one
	// selects every pool, none selects no pool.
	// +optional
	MatchLabels *PoolSelector `json:"matchLabels,omitempty"`
	// delayUpgrade says for how long the nodes of the pools wait.
	// +optional
	DelayUpgrade DelayUpgrade `json:"delayUpgrade,omitempty"`
}

// DelayUpgrade says for how long the nodes of a pool wait. The seed writes startAfter and startBefore for delayMin and delayMax.
// +kubebuilder:validation:XValidation:rule="!(has(self.delayMin) && has(self.startAfter))",message="delayMin and startAfter are two names of one setting: remove startAfter"
// +kubebuilder:validation:XValidation:rule="!(has(self.delayMax) && has(self.startBefore))",message="delayMax and startBefore are two names of one setting: remove startBefore"
// +kubebuilder:validation:XValidation:rule="duration(has(self.delayMin) ? self.delayMin : has(self.startAfter) ? self.startAfter : '0s') <= duration(has(self.delayMax) ? self.delayMax : has(self.startBefore) ? self.startBefore : '87600h')",message="delayMin must not be above delayMax"
type DelayUpgrade struct {
	// delayMin is how long after the job's startAfter the pools are let go at the earliest.
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^(0|([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+)$`
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="duration(self) <= duration('87600h')",message="must not be above 87600h"
	// +optional
	DelayMin *metav1.Duration `json:"delayMin,omitempty"`
	// delayMax is how long after the job's startBefore the pools must have been let go; later than that the job fails as
	// UnpausingPoolsExpired. Default: no limit but upgradeTimeout.
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^(0|([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+)$`
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="duration(self) <= duration('87600h')",message="must not be above 87600h"
	// +optional
	DelayMax *metav1.Duration `json:"delayMax,omitempty"`
	// startAfter is another name of delayMin.
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^(0|([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+)$`
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="duration(self) <= duration('87600h')",message="must not be above 87600h"
	// +optional
	StartAfter *metav1.Duration `json:"startAfter,omitempty"`
	// startBefore is another name of delayMax.
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^(0|([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+)$`
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="duration(self) <= duration('87600h')",message="must not be above 87600h"
	// +optional
	StartBefore *metav1.Duration `json:"startBefore,omitempty"`
}

// Min is delayMin under whichever name it was written.
func (d DelayUpgrade) Min() time.Duration { return orDefault(d.DelayMin, orDefault(d.StartAfter, 0)) }

// Max is delayMax under whichever name it was written; ok is false where there is none.
func (d DelayUpgrade) Max() (limit time.Duration, ok bool) {
	for _, m := range []*metav1.Duration{d.DelayMax, d.StartBefore} {
		if m != nil {
			return m.Duration, true
		}
	}
	return 0, false
}

// PauseMachineConfigPoolsOnFailure pauses pools when a job fails.
type PauseMachineConfigPoolsOnFailure struct {
	// enabled turns it on.
	// +optional
	Enabled bool `json:"enabled,omitempty"`
	// selector of the pools. An empty one selects every pool, none selects no pool.
	// +optional
	Selector *metav1.LabelSelector `json:"selector,omitempty"`
}

// UpgradeJobSpec is one upgrade.
// +kubebuilder:validation:XValidation:rule="self.startAfter <= self.startBefore",message="startBefore must not be before startAfter"
// +kubebuilder:validation:XValidation:rule="!has(self.desiredVersion) || has(self.desiredVersion.version) && size(self.desiredVersion.version) > 0 || has(self.desiredVersion.image) && size(self.desiredVersion.image) > 0",message="desiredVersion needs a version or an image; a job that upgrades nothing has no desiredVersion"
type UpgradeJobSpec struct {
	// startAfter is when the job starts at the earliest.
	StartAfter metav1.Time `json:"startAfter"`
	// startBefore is when it must have started; later than that it fails as Expired.
	StartBefore metav1.Time `json:"startBefore"`
	// desiredVersion is the version to upgrade to. A job without it upgrades nothing, but runs hooks and health checks.
	// +optional
	DesiredVersion *configv1.Update `json:"desiredVersion,omitempty"`
	// desiredVersionCheckAvailability has the job fail as UpgradeWithdrawn where the version is not available any more when it is to
	// be installed. Default: true.
	// +kubebuilder:default=true
	// +optional
	DesiredVersionCheckAvailability *bool `json:"desiredVersionCheckAvailability,omitempty"`
	// config is a snapshot of the UpgradeConfig's.
	// +optional
	Config UpgradeJobConfig `json:"config,omitempty"`
}

// HookStatus is where a run of a hook stands.
type HookStatus string

// The states of a hook's run.
const (
	HookActive   HookStatus = "active"
	HookComplete HookStatus = "complete"
	HookFailed   HookStatus = "failed"
)

// HookTracker is one run of a hook.
type HookTracker struct {
	// hookEvent that it ran for.
	HookEvent HookEvent `json:"hookEvent"`
	// trackingKey distinguishes several runs for one event: the pool's name for MachineConfigPoolUnpause.
	// +optional
	TrackingKey string `json:"trackingKey,omitempty"`
	// upgradeJobHook that was run.
	UpgradeJobHook string `json:"upgradeJobHook"`
	// status: active, complete or failed.
	// +optional
	Status HookStatus `json:"status,omitempty"`
	// message tells why it failed.
	// +optional
	Message string `json:"message,omitempty"`
}

// UpgradeJobStatus is where the upgrade stands.
type UpgradeJobStatus struct {
	// conditions: Started, PreHealthCheckDone, UpgradeCompleted, PostHealthCheckDone, Paused, MachineConfigPoolsPaused, Succeeded,
	// Failed.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// upgradeBefore is until when the upgrade must have started (seed).
	// +optional
	UpgradeBefore *metav1.Time `json:"upgradeBefore,omitempty"`
	// hookTracker are the runs of hooks.
	// +optional
	HookTracker []HookTracker `json:"hookTracker,omitempty"`
	// waiting says, in words, what the job waits for now.
	// +optional
	Waiting string `json:"waiting,omitempty"`
	// phase sums the conditions up: pending, active, paused, succeeded or failed.
	// +optional
	Phase JobPhase `json:"phase,omitempty"`
	// observedGeneration is the generation of the spec that the status was worked out from.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
}

// JobPhase sums up a job's conditions.
type JobPhase string

// The phases, as the metrics name them.
const (
	JobPending   JobPhase = "pending"
	JobActive    JobPhase = "active"
	JobPaused    JobPhase = "paused"
	JobSucceeded JobPhase = "succeeded"
	JobFailed    JobPhase = "failed"
)

// The condition types of an UpgradeJob.
const (
	ConditionStarted                  = "Started"
	ConditionPreHealthCheckDone       = "PreHealthCheckDone"
	ConditionUpgradeCompleted         = "UpgradeCompleted"
	ConditionPostHealthCheckDone      = "PostHealthCheckDone"
	ConditionPaused                   = "Paused"
	ConditionMachineConfigPoolsPaused = "MachineConfigPoolsPaused"
	ConditionSucceeded                = "Succeeded"
	ConditionFailed                   = "Failed"
)

// The reasons of an UpgradeJob's conditions.
const (
	ReasonStarted    = "Started"
	ReasonInProgress = "InProgress"
	ReasonCompleted  = "Completed"
	ReasonSucceeded  = "Succeeded"
	// ReasonSkipped is why a job succeeded that a suspension window held.
	ReasonSkipped        = "Skipped"
	ReasonNoManagedPools = "NoManagedPools"
	ReasonDelaySet       = "DelaySet"

	ReasonExpired               = "Expired"
	ReasonTimedOut              = "TimedOut"
	ReasonUnpausingPoolsExpired = "UnpausingPoolsExpired"
	ReasonPreHealthCheckFailed  = "PreHealthCheckFailed"
	ReasonPostHealthCheckFailed = "PostHealthCheckFailed"
	ReasonUpgradeWithdrawn      = "UpgradeWithdrawn"
	ReasonHookFailed            = "HookFailed"
	// ReasonUpgradeFailed is why a job failed whose KubernetesUpgrade failed or was aborted.
	ReasonUpgradeFailed = "UpgradeFailed"
)

// UpgradeJob is one upgrade of the cluster: when it starts, to which version, and how it went.
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=uj
// +kubebuilder:printcolumn:name="Version",type=string,JSONPath=`.spec.desiredVersion.version`
// +kubebuilder:printcolumn:name="Start After",type=string,JSONPath=`.spec.startAfter`
// +kubebuilder:printcolumn:name="State",type=string,JSONPath=`.status.phase`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Failed")].reason`
// +kubebuilder:printcolumn:name="Start Before",type=string,JSONPath=`.spec.startBefore`,priority=1
// +kubebuilder:printcolumn:name="Waiting",type=string,JSONPath=`.status.waiting`,priority=1
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type UpgradeJob struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   UpgradeJobSpec   `json:"spec"`
	Status UpgradeJobStatus `json:"status,omitempty"`
}

// UpgradeJobList is a list of UpgradeJobs.
// +kubebuilder:object:root=true
type UpgradeJobList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []UpgradeJob `json:"items"`
}

// Is says whether a condition of the job is True.
func (j *UpgradeJob) Is(condition string) bool {
	return meta.IsStatusConditionTrue(j.Status.Conditions, condition)
}

// Finished says whether the job has ended, well or not.
func (j *UpgradeJob) Finished() bool { return j.Is(ConditionSucceeded) || j.Is(ConditionFailed) }

// Outcome is the condition that a finished job ended with; nil while it has not.
func (j *UpgradeJob) Outcome() *metav1.Condition {
	for _, kind := range []string{ConditionSucceeded, ConditionFailed} {
		if c := meta.FindStatusCondition(j.Status.Conditions, kind); c != nil && c.Status == metav1.ConditionTrue {
			return c
		}
	}
	return nil
}

// Phase is the state that the conditions sum up to.
func (j *UpgradeJob) Phase() JobPhase {
	switch {
	case j.Is(ConditionSucceeded):
		return JobSucceeded
	case j.Is(ConditionFailed):
		return JobFailed
	case j.Is(ConditionPaused):
		return JobPaused
	case j.Is(ConditionStarted):
		return JobActive
	}
	return JobPending
}

// UpgradeTimeout is spec.config.upgradeTimeout, or its default.
func (j *UpgradeJob) UpgradeTimeout() time.Duration {
	return orDefault(j.Spec.Config.UpgradeTimeout, DefaultUpgradeTimeout)
}

// Version is the version that the job upgrades to, empty where it upgrades nothing.
func (j *UpgradeJob) Version() string {
	if j.Spec.DesiredVersion == nil {
		return ""
	}
	return j.Spec.DesiredVersion.Version
}
