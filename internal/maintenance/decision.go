package maintenance

import (
	"time"

	"refit.dev/refit/api/managedupgrade/v1beta1"
)

// ActionKind is what is to be done.
type ActionKind string

// The actions. Each may be done again: a manager may have been killed just after it did it.
const (
	// Hold puts our finalizer on the job, before anything is taken.
	Hold ActionKind = "hold"
	// LetGo takes it away, when all is given back.
	LetGo ActionKind = "let-go"
	// Claim claims a hook with run: Next for the job.
	Claim ActionKind = "claim-hook"
	// RunHook makes the Job of a hook.
	RunHook ActionKind = "run-hook"
	// FreeRun takes our finalizer from a hook's Job, whose result is recorded.
	FreeRun ActionKind = "free-run"
	// Lock and Unlock the target for the job.
	Lock   ActionKind = "lock"
	Unlock ActionKind = "unlock"
	// PausePool and UnpausePool are for machine config pools that a job delays.
	PausePool   ActionKind = "pause-pool"
	UnpausePool ActionKind = "unpause-pool"
	// StopPool pauses a machine config pool because the job failed, for a person to unpause.
	StopPool ActionKind = "stop-pool"
	// Install has the target bring the job's version.
	Install ActionKind = "install"
	// Halt has the target begin nothing more for the job.
	Halt ActionKind = "halt"
)

// Action is one thing to do.
type Action struct {
	Kind ActionKind
	// Hook to claim or run.
	Hook *v1beta1.UpgradeJobHook
	// Event and TrackingKey of the run.
	Event       v1beta1.HookEvent
	TrackingKey string
	// Disruptive says that some hook of the job is.
	Disruptive bool
	// Run is the name of the Job to free.
	Run string
	// Pool to pause or unpause.
	Pool string
}

// Decision is what comes of an observation: the status is written first, then the actions are done in order.
type Decision struct {
	Status  v1beta1.UpgradeJobStatus
	Actions []Action
	// LookAgain is after how long to look again though nothing changed; 0 is never.
	LookAgain time.Duration
}
