package maintenance

import (
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"refit.dev/refit/api/managedupgrade/v1beta1"
	"refit.dev/refit/internal/gate"
)

// Input is one observation of a job.
type Input struct {
	Now time.Time
	Job *v1beta1.UpgradeJob
	// Hooks are those of the job's namespace, by name.
	Hooks []v1beta1.UpgradeJobHook
	// Runs are the Jobs that were made for the job's hooks.
	Runs []Run
	// Windows are those of the job's namespace.
	Windows []v1beta1.UpgradeSuspensionWindow
	Target  Target
	// Health is what the check that HealthCheck names found; nil where none was made.
	Health []gate.Verdict
	// HealthAsked says that one was made.
	HealthAsked bool
}

// Run is a Job that was made for a hook.
type Run struct {
	// Name of the Job.
	Name        string
	Hook        string
	Event       v1beta1.HookEvent
	TrackingKey string
	// Ended says that it will do nothing more; Failed, and Message why, that it did not do its work.
	Ended, Failed bool
	Message       string
	// Held says that our finalizer keeps it.
	Held bool
}

// Stage is a moment at which health is checked.
type Stage string

// The stages.
const (
	NoCheck     Stage = ""
	PreUpgrade  Stage = "pre"
	PostUpgrade Stage = "post"
)

// HealthCheck says which health check the job is at, so that the observation makes it. Making it costs, so none is made otherwise.
func HealthCheck(j *v1beta1.UpgradeJob) Stage {
	if j.Finished() || j.DeletionTimestamp != nil {
		return NoCheck
	}
	asked := func(kind string) bool {
		c := meta.FindStatusCondition(j.Status.Conditions, kind)
		return c != nil && c.Status != metav1.ConditionTrue
	}
	switch {
	case asked(v1beta1.ConditionPreHealthCheckDone):
		return PreUpgrade
	case j.Is(v1beta1.ConditionUpgradeCompleted) && asked(v1beta1.ConditionPostHealthCheckDone):
		return PostUpgrade
	}
	return NoCheck
}

// Check is the configuration of a stage's health check.
func (s Stage) Check(j *v1beta1.UpgradeJob) v1beta1.UpgradeJobHealthCheck {
	if s == PostUpgrade {
		return j.Spec.Config.PostUpgradeHealthChecks
	}
	return j.Spec.Config.PreUpgradeHealthChecks
}
