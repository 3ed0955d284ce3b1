package maintenance

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"refit.dev/refit/api/managedupgrade/v1beta1"
)

// install brings the job's version, and waits until it runs on all pools that are not paused.
func (d *decider) install() bool {
	if d.job.Is(v1beta1.ConditionUpgradeCompleted) {
		return true
	}
	if d.job.Spec.DesiredVersion == nil {
		d.set(v1beta1.ConditionUpgradeCompleted, metav1.ConditionTrue, v1beta1.ReasonCompleted, "There is no version to install")
		return true
	}
	t := d.Target
	switch {
	case t.Completed:
		return d.installed()
	case !t.Requested:
		return d.request()
	case t.Failed != "":
		return d.fail(v1beta1.ReasonUpgradeFailed, "%s", t.Failed)
	}
	d.set(v1beta1.ConditionUpgradeCompleted, metav1.ConditionFalse, v1beta1.ReasonInProgress, "%s", orProgress(t.Progress))
	return d.watch("%s", orProgress(t.Progress))
}

func orProgress(text string) string {
	if text == "" {
		return "The upgrade is under way"
	}
	return text
}

// request tells the target to bring the version.
func (d *decider) request() bool {
	t, want := d.Target, d.job.Spec.DesiredVersion
	if t.Busy != "" {
		return d.watch("%s", t.Busy)
	}
	check := d.job.Spec.DesiredVersionCheckAvailability
	if (check == nil || *check) && !offers(t.Available, want) {
		return d.fail(v1beta1.ReasonUpgradeWithdrawn, "Version %s is not available any more", either(want.Version, want.Image))
	}
	d.set(v1beta1.ConditionUpgradeCompleted, metav1.ConditionFalse, v1beta1.ReasonInProgress, "The upgrade to %s begins", either(want.Version, want.Image))
	d.act(Action{Kind: Install})
	return d.wait("the upgrade to %s begins", either(want.Version, want.Image))
}

func either(text, or string) string {
	if text == "" {
		return or
	}
	return text
}

// installed waits for the pools: those that are not paused count (seed: when's an upgrade job considered successful).
func (d *decider) installed() bool {
	if !d.poolsUpdated() {
		return false
	}
	d.set(v1beta1.ConditionUpgradeCompleted, metav1.ConditionTrue, v1beta1.ReasonCompleted, "The cluster runs %s", either(d.job.Version(), "the version"))
	return true
}

// poolsUpdated waits for every pool that is not paused.
func (d *decider) poolsUpdated() bool {
	for _, p := range d.Target.Pools {
		if !p.Paused && !p.Updated {
			text := "machine config pool " + p.Name + " is being updated: " + p.Progress
			if !d.job.Is(v1beta1.ConditionUpgradeCompleted) {
				d.set(v1beta1.ConditionUpgradeCompleted, metav1.ConditionFalse, v1beta1.ReasonInProgress, "%s", text)
			}
			return d.watch("%s", text)
		}
	}
	return true
}
