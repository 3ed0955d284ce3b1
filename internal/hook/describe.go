package hook

import (
	"fmt"
	"time"

	"refit.dev/refit/api/managedupgrade/v1beta1"
)

// About is what a hook is told of a moment of a job: in words that can be sent to people as they are.
func About(job *v1beta1.UpgradeJob, event v1beta1.HookEvent, pool string, now time.Time) Event {
	e := Event{Name: event, Time: now.UTC().Format(time.RFC3339), Reason: string(event), Pool: pool}
	if end := job.Outcome(); end != nil {
		e.Reason = end.Reason
	}
	e.Message = "UpgradeJob " + job.Name + " " + what(job, event, pool)
	return e
}

func what(job *v1beta1.UpgradeJob, event v1beta1.HookEvent, pool string) string {
	to := "runs hooks and health checks, as there is no newer version"
	if v := job.Version(); v != "" {
		to = "upgrades the cluster to " + v
	}
	switch event {
	case v1beta1.EventCreate:
		return fmt.Sprintf("%s; it starts at %s", to, job.Spec.StartAfter.UTC().Format("2006-01-02 15:04 MST"))
	case v1beta1.EventStart:
		return "begins: it " + to
	case v1beta1.EventUpgradeComplete:
		return "has done the upgrade, and the cluster is healthy"
	case v1beta1.EventMachineConfigPoolUnpause:
		return "is about to let machine config pool " + pool + " go"
	}
	end := job.Outcome()
	switch {
	case end == nil:
		return "is at " + string(event)
	case end.Type == v1beta1.ConditionFailed:
		return fmt.Sprintf("failed (%s): %s", end.Reason, end.Message)
	case end.Reason == v1beta1.ReasonSkipped:
		return "was skipped: " + end.Message
	}
	return "succeeded: " + end.Message
}
