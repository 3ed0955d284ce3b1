package nodeupgrade

import "refit.dev/refit/api/v1alpha1"

// The reasons of the Ready condition, and so of the events.
const (
	ReasonPending      = "Pending"
	ReasonStaging      = "Staging"
	ReasonStaged       = "Staged"
	ReasonCopyingEtcd  = "CopyingEtcd"
	ReasonUpgrading    = "Upgrading"
	ReasonSettling     = "Settling"
	ReasonRetrying     = "Retrying"
	ReasonInterrupted  = "Interrupted"
	ReasonRetryAsked   = "RetryAsked"
	ReasonNodeNotReady = "NodeNotReady"
	ReasonNodeBusy     = "NodeBusy"
	ReasonNoPeer       = "NoControlPlaneForEtcdCopy"
	ReasonAborting     = "Aborting"
	ReasonDeleting     = "Deleting"

	ReasonCompleted            = "Completed"
	ReasonAborted              = "Aborted"
	ReasonSkipped              = "Skipped"
	ReasonVersionUnknown       = "VersionUnknown"
	ReasonStepFailed           = "StepFailed"
	ReasonRefused              = "Refused"
	ReasonRolledBack           = "RolledBack"
	ReasonDrainTimedOut        = "DrainTimedOut"
	ReasonTooManyInterruptions = "TooManyInterruptions"
	ReasonImageUnavailable     = "ImageUnavailable"
	ReasonPodNotStarted        = "PodNotStarted"
	ReasonDeadlineExceeded     = "DeadlineExceeded"
	ReasonEtcdCopyFailed       = "EtcdCopyFailed"
	ReasonVersionMismatch      = "VersionMismatch"
	ReasonNodeLost             = "NodeLost"
	ReasonNodeDeleted          = "NodeDeleted"
	ReasonNodeRecreated        = "NodeRecreated"
	ReasonNodeNotFound         = "NodeNotFound"
)

// The reasons of other conditions than Ready.
const (
	ReasonWaiting            = "Waiting"
	ReasonPodCreated         = "UpgraderPodCreated"
	ReasonEtcdCopied         = "EtcdCopied"
	ReasonSingleControlPlane = "SingleControlPlane"
	ReasonNoEtcdMember       = "NoEtcdMember"
)

var warnings = map[string]bool{
	ReasonRetrying: true, ReasonInterrupted: true, ReasonNodeNotReady: true, ReasonNoPeer: true, ReasonSkipped: true,
	ReasonVersionUnknown: true, ReasonStepFailed: true, ReasonRefused: true, ReasonRolledBack: true, ReasonDrainTimedOut: true,
	ReasonTooManyInterruptions: true, ReasonImageUnavailable: true, ReasonPodNotStarted: true, ReasonDeadlineExceeded: true,
	ReasonEtcdCopyFailed: true, ReasonVersionMismatch: true, ReasonNodeLost: true, ReasonNodeDeleted: true,
	ReasonNodeRecreated: true, ReasonNodeNotFound: true, ReasonSingleControlPlane: true,
}

// stepReason names what became of a step that has a condition, e.g. KubeletFailed.
func stepReason(step v1alpha1.StepName, state v1alpha1.StepState) string {
	if state == v1alpha1.StepSucceeded {
		return step.Condition()
	}
	return camel(string(step)) + string(state)
}

func camel(words string) string {
	out := make([]rune, 0, len(words))
	upper := true
	for _, r := range words {
		switch {
		case r == '-':
			upper = true
			continue
		case upper && r >= 'a' && r <= 'z':
			r -= 'a' - 'A'
		}
		upper = false
		out = append(out, r)
	}
	return string(out)
}
