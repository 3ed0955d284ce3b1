package cli

import (
	"fmt"
	"strings"

	"refit.dev/refit/api/managedupgrade/v1beta1"
	"refit.dev/refit/internal/cli/print"
)

// inWords are the ends of a job.
var inWords = map[string]string{
	v1beta1.ReasonSucceeded:             "succeeded",
	v1beta1.ReasonSkipped:               "was skipped: an UpgradeSuspensionWindow held it when it was to start",
	v1beta1.ReasonExpired:               "failed: it could not start in its window",
	v1beta1.ReasonTimedOut:              "failed: it took longer than it may",
	v1beta1.ReasonUnpausingPoolsExpired: "failed: a machine config pool could not be let go in time",
	v1beta1.ReasonPreHealthCheckFailed:  "failed: the cluster was not healthy before the upgrade, so nothing was installed",
	v1beta1.ReasonPostHealthCheckFailed: "failed: the version is installed, but the cluster was not healthy after it",
	v1beta1.ReasonUpgradeWithdrawn:      "failed: its version was not available any more when it was to be installed",
	v1beta1.ReasonHookFailed:            "failed: a hook failed whose failurePolicy is Abort",
	v1beta1.ReasonUpgradeFailed:         "failed: the upgrade itself failed, or was aborted",
}

// headline says where the job stands, with the reason as the status spells it.
func (s *jobStory) headline() string {
	if end := s.job.Outcome(); end != nil {
		words, known := inWords[end.Reason]
		if !known {
			words = strings.ToLower(end.Type)
		}
		if end.Reason == v1beta1.ReasonSucceeded {
			return words
		}
		return fmt.Sprintf("%s (%s)", words, end.Reason)
	}
	switch s.job.Phase() {
	case v1beta1.JobPaused:
		return "has installed its version, and waits for delayed machine config pools (paused)"
	case v1beta1.JobActive:
		return "is under way (active)"
	}
	if s.now.Before(s.job.Spec.StartAfter.Time) {
		return fmt.Sprintf("starts in %s (pending)", print.Span(s.job.Spec.StartAfter.Sub(s.now)))
	}
	if s.now.After(s.job.Spec.StartBefore.Time) {
		return "has not started, and its window is over (pending)"
	}
	return "could start, and has not yet (pending)"
}
