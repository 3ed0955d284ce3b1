package maintenance

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"refit.dev/refit/api/managedupgrade/v1beta1"
	"refit.dev/refit/internal/gate"
)

// unfinished takes the job as far as it goes.
func (d *decider) unfinished() {
	d.claim()
	if !d.job.Is(v1beta1.ConditionStarted) {
		d.pending()
		return
	}
	began := d.condition(v1beta1.ConditionStarted).LastTransitionTime.Time
	deadline := began.Add(d.job.UpgradeTimeout())
	if !d.Now.Before(deadline) {
		d.fail(v1beta1.ReasonTimedOut, "The upgrade took longer than upgradeTimeout, %s%s", d.job.UpgradeTimeout(), last(d.Job.Status.Waiting))
		return
	}
	d.at(deadline)
	for _, stage := range []func() bool{
		func() bool { return d.hooks(v1beta1.EventStart, "") },
		d.lock,
		d.pausePools,
		func() bool {
			return d.healthy(PreUpgrade, v1beta1.ConditionPreHealthCheckDone, v1beta1.ReasonPreHealthCheckFailed)
		},
		d.install,
		func() bool {
			return d.healthy(PostUpgrade, v1beta1.ConditionPostHealthCheckDone, v1beta1.ReasonPostHealthCheckFailed)
		},
		func() bool { return d.hooks(v1beta1.EventUpgradeComplete, "") },
		d.unpausePools,
	} {
		if !stage() {
			return
		}
	}
	d.succeed(v1beta1.ReasonSucceeded, "%s", d.success())
}

func (d *decider) success() string {
	if v := d.job.Version(); v != "" {
		return "The cluster runs " + v
	}
	return "Hooks and health checks are done; no newer version was available"
}

// last tells of what a job waited for when it ended.
func last(waiting string) string {
	if waiting == "" {
		return ""
	}
	return ". It waited: " + waiting
}

// pending is a job until it starts.
func (d *decider) pending() {
	startAfter, startBefore := d.job.Spec.StartAfter.Time, d.job.Spec.StartBefore.Time
	window, err := Skips(d.Windows, d.Job, d.Now)
	if window != nil && !d.Now.Before(startAfter) {
		d.succeed(v1beta1.ReasonSkipped, "UpgradeSuspensionWindow %s holds upgrades until %s%s", window.Name, local(window.Spec.End.Time), because(window.Spec.Reason))
		return
	}
	if d.Now.After(startBefore) {
		d.fail(v1beta1.ReasonExpired, "The job could not start before %s%s", local(startBefore), last(d.Job.Status.Waiting))
		return
	}
	done := d.hooks(v1beta1.EventCreate, "")
	if d.job.Finished() {
		return
	}
	if d.Now.Before(startAfter) {
		d.wait("the job starts at %s", local(startAfter))
		d.at(startAfter)
		return
	}
	d.at(startBefore.Add(soon))
	switch bad := selectors(d.job.Spec.Config); {
	case err != nil:
		d.watch("%v: correct it", err)
	case bad != nil:
		d.watch("spec.config.%v: correct it", bad)
	case done:
		d.set(v1beta1.ConditionStarted, metav1.ConditionTrue, v1beta1.ReasonStarted, "The job has started%s", towards(d.job))
		d.at(d.Now)
	}
}

func because(reason string) string {
	if reason == "" {
		return ""
	}
	return ": " + reason
}

func towards(j *v1beta1.UpgradeJob) string {
	if v := j.Version(); v != "" {
		return ", towards " + v
	}
	return ", without a version to install"
}

// lock makes the target this job's alone.
func (d *decider) lock() bool {
	t := d.Target
	switch {
	case t.Problem != "":
		return d.watch("%s", t.Problem)
	case t.HeldBy == d.name():
		return true
	case t.HeldBy != "" && !t.HolderEnded:
		return d.watch("UpgradeJob %s has not ended", t.HeldBy)
	}
	d.act(Action{Kind: Lock})
	return d.wait("the job takes its lock")
}

// healthy asks the health check of a stage until it holds or its time is over.
func (d *decider) healthy(stage Stage, kind, failed string) bool {
	asked := d.condition(kind)
	if asked == nil {
		d.set(kind, metav1.ConditionFalse, v1beta1.ReasonInProgress, "The cluster's health is being checked")
		d.at(d.Now)
		return d.wait("the cluster's health is being checked")
	}
	if asked.Status == metav1.ConditionTrue {
		return true
	}
	check := stage.Check(d.job)
	deadline := asked.LastTransitionTime.Add(check.Patience())
	if !d.HealthAsked {
		d.at(d.Now)
		return d.wait("the cluster's health is being checked")
	}
	if len(gate.Closed(d.Health)) == 0 {
		d.set(kind, metav1.ConditionTrue, v1beta1.ReasonCompleted, "%s", found(d.Health))
		return true
	}
	saw := gate.Summary(d.Health)
	if !d.Now.Before(deadline) {
		return d.fail(failed, "The cluster did not become healthy in %s: %s", check.Patience(), saw)
	}
	d.set(kind, metav1.ConditionFalse, v1beta1.ReasonInProgress, "%s", saw)
	d.at(deadline)
	return d.watch("the cluster is not healthy: %s", saw)
}

// found says in a line what was looked at.
func found(all []gate.Verdict) string {
	if len(all) == 0 {
		return "The cluster is healthy: nothing was asked to be checked"
	}
	var parts []string
	for _, v := range all {
		parts = append(parts, v.String())
	}
	return "The cluster is healthy: " + strings.Join(parts, "; ")
}
