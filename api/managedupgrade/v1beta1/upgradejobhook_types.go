package v1beta1

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"refit.dev/refit/api/jobtemplate"
)

// HookEvent is a moment of an upgrade at which hooks run.
// +kubebuilder:validation:Enum=Create;Start;UpgradeComplete;MachineConfigPoolUnpause;Finish;Success;Failure
type HookEvent string

// The events. Create, Start, UpgradeComplete and MachineConfigPoolUnpause can hold up and fail the upgrade; the others cannot.
const (
	// EventCreate: the job was created, its version is pinned, and it waits for startAfter.
	EventCreate HookEvent = "Create"
	// EventStart: the job has started, and has changed nothing yet.
	EventStart HookEvent = "Start"
	// EventUpgradeComplete: the new version runs, and the health checks hold.
	EventUpgradeComplete HookEvent = "UpgradeComplete"
	// EventMachineConfigPoolUnpause: a delayed pool is about to be let go. Runs once for each pool.
	EventMachineConfigPoolUnpause HookEvent = "MachineConfigPoolUnpause"
	// EventSuccess: the job succeeded.
	EventSuccess HookEvent = "Success"
	// EventFailure: the job failed.
	EventFailure HookEvent = "Failure"
	// EventFinish: the job ended, well or not.
	EventFinish HookEvent = "Finish"
)

// HookRun says for which jobs a hook runs.
// +kubebuilder:validation:Enum=Next;All
type HookRun string

// The ways to run a hook.
const (
	// RunNext runs it for every event of one job: the first that matches.
	RunNext HookRun = "Next"
	// RunAll runs it for every job that matches.
	RunAll HookRun = "All"
)

// HookFailurePolicy says what a failure of a hook does to the upgrade.
// +kubebuilder:validation:Enum=Abort;Ignore
type HookFailurePolicy string

// The failure policies.
const (
	// FailureAbort fails the upgrade as HookFailed.
	FailureAbort HookFailurePolicy = "Abort"
	// FailureIgnore goes on.
	FailureIgnore HookFailurePolicy = "Ignore"
)

// UpgradeJobHookSpec is what runs, and when.
type UpgradeJobHookSpec struct {
	// events to run the hook at.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=7
	// +listType=set
	Events []HookEvent `json:"events"`
	// run: Next, for every event of the next job, or All. Default: All.
	// +optional
	Run HookRun `json:"run,omitempty"`
	// failurePolicy: Ignore goes on after a failure, Abort fails the upgrade. Default: Ignore.
	// +optional
	FailurePolicy HookFailurePolicy `json:"failurePolicy,omitempty"`
	// selector of the UpgradeJobs, by their labels. An empty one selects every job.
	// +optional
	Selector metav1.LabelSelector `json:"selector,omitempty"`
	// disruptive says that the hook disturbs workloads. It changes nothing but the metric upgradejob_state, so that people can be told.
	// +optional
	Disruptive bool `json:"disruptive,omitempty"`
	// template of the Jobs. Set its activeDeadlineSeconds: without it a run may take as long as the upgrade's own timeouts allow.
	Template jobtemplate.Template `json:"template"`
}

// ClaimReference names the UpgradeJob that has claimed a hook.
// +structType=atomic
type ClaimReference struct {
	// apiVersion of the job.
	APIVersion string `json:"apiVersion"`
	// kind of the job.
	Kind string `json:"kind"`
	// name of the job.
	Name string `json:"name"`
	// uid of the job.
	UID types.UID `json:"uid"`
}

// UpgradeJobHookStatus says whose hook it is.
type UpgradeJobHookStatus struct {
	// claimedBy is the job that a hook with run: Next runs for.
	// +optional
	ClaimedBy *ClaimReference `json:"claimedBy,omitempty"`
}

// UpgradeJobHook runs Jobs before, during and after upgrades.
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=ujh
// +kubebuilder:printcolumn:name="Events",type=string,JSONPath=`.spec.events`
// +kubebuilder:printcolumn:name="Run",type=string,JSONPath=`.spec.run`
// +kubebuilder:printcolumn:name="Failure Policy",type=string,JSONPath=`.spec.failurePolicy`
// +kubebuilder:printcolumn:name="Disruptive",type=boolean,JSONPath=`.spec.disruptive`
// +kubebuilder:printcolumn:name="Claimed By",type=string,JSONPath=`.status.claimedBy.name`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type UpgradeJobHook struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   UpgradeJobHookSpec   `json:"spec"`
	Status UpgradeJobHookStatus `json:"status,omitempty"`
}

// UpgradeJobHookList is a list of UpgradeJobHooks.
// +kubebuilder:object:root=true
type UpgradeJobHookList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []UpgradeJobHook `json:"items"`
}

// RunsOn says whether the hook runs at an event.
func (h *UpgradeJobHook) RunsOn(e HookEvent) bool { return slices.Contains(h.Spec.Events, e) }

// Once says whether the hook runs for one job only.
func (h *UpgradeJobHook) Once() bool { return h.Spec.Run == RunNext }

// Aborts says whether a failure of the hook fails the upgrade.
func (h *UpgradeJobHook) Aborts() bool { return h.Spec.FailurePolicy == FailureAbort }
