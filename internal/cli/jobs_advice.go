package cli

import (
	"fmt"

	"refit.dev/refit/api/managedupgrade/v1beta1"
	"refit.dev/refit/api/v1alpha1"
)

// template is where an UpgradeConfig has what its jobs are made from.
const template = "spec.jobTemplate.spec.config."

// advice is what a person can do next.
func (s *jobStory) advice() []string {
	end := s.job.Outcome()
	if end == nil {
		return s.underWay()
	}
	switch end.Reason {
	case v1beta1.ReasonSucceeded:
		return s.failedHooks()
	case v1beta1.ReasonSkipped:
		return []string{s.nextWindow("upgrades")}
	case v1beta1.ReasonExpired:
		return []string{"End what it waited for (see Message).",
			"Where it only needs more time to start: raise spec.maxUpgradeStartDelay of the UpgradeConfig.", s.nextWindow("tries again")}
	case v1beta1.ReasonTimedOut:
		return append(s.goOn(), "Where it only needs more time: raise "+template+"upgradeTimeout of the UpgradeConfig.")
	case v1beta1.ReasonUnpausingPoolsExpired:
		return []string{"End what it waited for (see Message); the pools were let go when the job failed, unless pauseMachineConfigPoolsOnFailure pauses them.",
			"Where they only need more time: raise delayUpgrade.delayMax in " + template + "machineConfigPools of the UpgradeConfig."}
	case v1beta1.ReasonPreHealthCheckFailed:
		return []string{"End what the health check saw. What is not to count: exclude it in " + template + "preUpgradeHealthChecks of the UpgradeConfig",
			"(excludeAlerts, excludeNamespaces, excludeOperators; correct or remove a custom query). A gate of Refit: " + template + "kubernetesUpgrade.excludedGates.",
			s.nextWindow("tries again")}
	case v1beta1.ReasonPostHealthCheckFailed:
		return []string{"The version is installed: nothing is to be repeated. End what the health check saw.",
			"What is not to count next time: exclude it in " + template + "postUpgradeHealthChecks of the UpgradeConfig."}
	case v1beta1.ReasonUpgradeWithdrawn:
		return []string{s.versionsCommand() + " shows what can be installed now; the next job pins the highest of it.", s.nextWindow("does so")}
	case v1beta1.ReasonHookFailed:
		return append(s.failedHooks(), "Correct the hook, or set its failurePolicy to Ignore.", s.nextWindow("tries again"))
	case v1beta1.ReasonUpgradeFailed:
		return s.goOn()
	}
	return nil
}

// underWay is what a person can do while the job has not ended.
func (s *jobStory) underWay() []string {
	if s.job.Status.Phase == "" && len(s.job.Status.Conditions) == 0 {
		return []string{"The manager has not seen the job yet. Where it stays like this, no manager runs: see `kubectl -n " + v1alpha1.Namespace + " get pods`."}
	}
	var out []string
	for _, r := range s.job.Status.HookTracker {
		if r.Status == v1beta1.HookActive {
			out = append(out, fmt.Sprintf("`kubectl -n %s logs -f job/%s` shows what hook %s does.", s.job.Namespace, hookJob(s.job, r), r.UpgradeJobHook))
		}
	}
	if s.upgrade != nil && s.upgrade.Spec.Paused {
		out = append(out, fmt.Sprintf("KubernetesUpgrade %[1]s is paused: `refit resume %[1]s` goes on.", s.upgrade.Name))
	}
	if len(out) == 0 {
		out = append(out, "Nothing: the job goes on by itself. `refit jobs --watch` shows it.")
	}
	return out
}

// failedHooks say where the failure of a hook shows.
func (s *jobStory) failedHooks() []string {
	var out []string
	for _, r := range s.job.Status.HookTracker {
		switch gone := s.runs != nil && !s.runs[hookJob(s.job, r)]; {
		case r.Status != v1beta1.HookFailed:
		case gone:
			out = append(out, fmt.Sprintf("The Job of hook %s at %s was deleted, and what it printed with it.", r.UpgradeJobHook, r.HookEvent))
		default:
			out = append(out, fmt.Sprintf("`kubectl -n %s logs job/%s` shows what hook %s did.", s.job.Namespace, hookJob(s.job, r), r.UpgradeJobHook))
		}
	}
	return out
}

// goOn says how an upgrade that a job could not finish goes on.
func (s *jobStory) goOn() []string {
	switch {
	case s.upgrade != nil && !s.upgrade.Finished():
		return []string{fmt.Sprintf("`refit status %s` shows where the upgrade stopped.", s.upgrade.Name),
			fmt.Sprintf("`refit resume %s` goes on with it now.", s.upgrade.Name), s.nextWindow("goes on with it as well")}
	case s.onOpenShift():
		return []string{"OpenShift goes on towards the version by itself: `oc get clusterversion,clusteroperators,mcp` shows where it stands."}
	}
	return []string{s.nextWindow("tries again")}
}

func (s *jobStory) onOpenShift() bool {
	return s.unserved || s.target != nil && s.target.Kind == v1beta1.TargetOpenShift
}

func (s *jobStory) versionsCommand() string {
	if s.onOpenShift() {
		return "`oc adm upgrade`"
	}
	return "`refit versions`"
}

// nextWindow says where the next window shows.
func (s *jobStory) nextWindow(does string) string {
	if s.config == nil {
		return "No UpgradeConfig makes a further job: `refit schedule` shows those that there are."
	}
	return fmt.Sprintf("The next window %s: `refit schedule %s/%s` shows when that is.", does, s.config.Namespace, s.config.Name)
}
