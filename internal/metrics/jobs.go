package metrics

import (
	"context"
	"strconv"

	configv1 "github.com/openshift/api/config/v1"
	"k8s.io/utils/ptr"

	"refit.dev/refit/api/managedupgrade/v1beta1"
)

var (
	jobState = own("upgradejob_state", "1 for the state that an UpgradeJob is in: pending, active, paused, succeeded or failed. The last two have a reason.",
		"namespace", "upgradejob", "state", "reason", "version")
	jobHookRuns = own("upgradejob_hook_runs", "How many runs of a hook for an event of an UpgradeJob are active, complete or failed.",
		"namespace", "upgradejob", "event", "hook", "status")

	aliasJobState = alias("upgradejob_state", "1 for the state that an UpgradeJob is in: pending, active, paused, succeeded or failed. The last two have a reason.",
		"namespace", "upgradejob", "start_after", "start_before", "desired_version_force", "desired_version_image", "desired_version_version", "state", "reason", "matches_disruptive_hooks")
	aliasJobStartAfter  = alias("upgradejob_start_after_timestamp_seconds", "When an UpgradeJob starts at the earliest.", "namespace", "upgradejob")
	aliasJobStartBefore = alias("upgradejob_start_before_timestamp_seconds", "When an UpgradeJob must have started.", "namespace", "upgradejob")

	jobMetrics = []*metric{jobState, jobHookRuns, aliasJobState, aliasJobStartAfter, aliasJobStartBefore}
)

// jobs gives the UpgradeJobs. Where the hooks cannot be read, the alias of the state is left out, as one of its labels is unknown.
func (s *scrape) jobs(ctx context.Context) {
	var list v1beta1.UpgradeJobList
	if !s.list(ctx, theJobs, &list) {
		return
	}
	var disrupts disruption
	known := false
	if s.options.Aliases {
		disrupts, known = s.disruption(ctx)
	}
	for i := range list.Items {
		j := &list.Items[i]
		s.gauge(jobState, 1, j.Namespace, j.Name, string(j.Phase()), reason(j), j.Version())
		s.timestamp(aliasJobStartAfter, j.Spec.StartAfter.Time, j.Namespace, j.Name)
		s.timestamp(aliasJobStartBefore, j.Spec.StartBefore.Time, j.Namespace, j.Name)
		s.hookRuns(j)
		if known {
			s.aliasState(j, disrupts)
		}
	}
}

func (s *scrape) aliasState(j *v1beta1.UpgradeJob, d disruption) {
	v := ptr.Deref(j.Spec.DesiredVersion, configv1.Update{})
	s.gauge(aliasJobState, 1, j.Namespace, j.Name, utc(j.Spec.StartAfter.Time), utc(j.Spec.StartBefore.Time),
		strconv.FormatBool(v.Force), v.Image, v.Version, string(j.Phase()), reason(j), strconv.FormatBool(d.of(j)))
}

// hookRuns sums up the runs, since a hook may run several times for an event: once for each pool.
func (s *scrape) hookRuns(j *v1beta1.UpgradeJob) {
	if len(j.Status.HookTracker) == 0 {
		return
	}
	type run struct {
		event  v1beta1.HookEvent
		hook   string
		status v1beta1.HookStatus
	}
	runs := map[run]int{}
	for _, t := range j.Status.HookTracker {
		runs[run{t.HookEvent, t.UpgradeJobHook, t.Status}]++
	}
	for r, n := range runs {
		s.gauge(jobHookRuns, float64(n), j.Namespace, j.Name, string(r.event), r.hook, string(r.status))
	}
}

// reason is why a job ended as it did; empty while it has not.
func reason(j *v1beta1.UpgradeJob) string {
	if c := j.Outcome(); c != nil {
		return c.Reason
	}
	return ""
}
