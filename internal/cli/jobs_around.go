package cli

import (
	"fmt"

	mcfgv1 "github.com/openshift/api/machineconfiguration/v1"

	"refit.dev/refit/api/managedupgrade/v1beta1"
	"refit.dev/refit/internal/maintenance"
)

// surroundings are what there is around the job: its target, the lock, the pools, and what suspends it.
func (s *jobStory) surroundings() []property {
	out := []property{{"Target", s.targetText()}, {"Lock", s.lockText()}, {"Upgrade", s.upgradeText()}}
	if s.target != nil && !s.job.Finished() {
		out = append(out, property{"In the way", s.target.Busy})
	}
	for i := range s.pools {
		out = append(out, property{"Pool", s.poolText(&s.pools[i])})
	}
	for i := range s.suspensions {
		out = append(out, property{"Suspension", s.suspensionText(&s.suspensions[i])})
	}
	return out
}

func (s *jobStory) targetText() string {
	switch {
	case s.unserved:
		return string(v1beta1.TargetOpenShift) + ", whose API this cluster does not serve"
	case s.target == nil:
		return string(s.job.Spec.Config.Target)
	case s.target.Kind == v1beta1.TargetOpenShift && s.target.Progress != "":
		return string(s.target.Kind) + ": " + s.target.Progress
	}
	return string(s.target.Kind)
}

// lockText says whose the lock is.
func (s *jobStory) lockText() string {
	switch {
	case s.target == nil || s.target.Problem != "":
		return ""
	case s.target.HeldBy == "":
		return "nobody holds it"
	case s.target.HeldBy == maintenance.Name(s.job):
		return "this job holds it"
	case s.target.HolderEnded:
		return fmt.Sprintf("UpgradeJob %s holds it, but has ended: the next job takes it", s.target.HeldBy)
	}
	return fmt.Sprintf("UpgradeJob %[1]s holds it, and has not ended: see `refit jobs why %[1]s`", s.target.HeldBy)
}

func (s *jobStory) upgradeText() string {
	if s.upgrade == nil {
		return ""
	}
	return fmt.Sprintf("KubernetesUpgrade %[1]s to %[2]s, %[3]s%[4]s: see `refit status %[1]s`", s.upgrade.Name, s.upgrade.Spec.ToVersion, stateOf(s.upgrade), flags(s.upgrade))
}

// poolText tells of a pool that is paused, and by whom; empty for others.
func (s *jobStory) poolText(p *mcfgv1.MachineConfigPool) string {
	if !p.Spec.Paused {
		return ""
	}
	by, failed := p.Annotations[v1beta1.AnnotationPausedBy], p.Annotations[v1beta1.AnnotationPausedOnFailure]
	switch me := maintenance.Name(s.job); {
	case by == me:
		return p.Name + " is paused by this job, and let go when its delay is over"
	case by != "":
		return fmt.Sprintf("%s is paused by UpgradeJob %s", p.Name, by)
	case failed == me:
		return fmt.Sprintf("%s is paused because this job failed; %s", p.Name, unpause(p.Name))
	case failed != "":
		return fmt.Sprintf("%s is paused because UpgradeJob %s failed; %s", p.Name, failed, unpause(p.Name))
	}
	return fmt.Sprintf("%s is paused by a person, and stays so; %s", p.Name, unpause(p.Name))
}

func unpause(pool string) string {
	return fmt.Sprintf("`oc patch mcp %s --type merge -p '{\"spec\":{\"paused\":false}}'` lets it go", pool)
}

// suspensionText tells of a window that covers a time at which the job could start; empty for others.
func (s *jobStory) suspensionText(w *v1beta1.UpgradeSuspensionWindow) string {
	holds, err := w.HoldsJob(s.job)
	if err != nil {
		return fmt.Sprintf("%v: correct it, no job starts before that", err)
	}
	if !holds || w.Spec.End.Before(&s.job.Spec.StartAfter) || s.job.Spec.StartBefore.Before(&w.Spec.Start) {
		return ""
	}
	text := fmt.Sprintf("UpgradeSuspensionWindow %s, %s to %s", w.Name, s.local(w.Spec.Start), s.local(w.Spec.End))
	if w.Spec.Reason != "" {
		text += ": " + w.Spec.Reason
	}
	return text
}
