package kubernetes

import (
	"fmt"
	"strings"

	"refit.dev/refit/api/managedupgrade/v1beta1"
	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/maintenance"
)

// annotationUpgrade names, on an UpgradeJob, the KubernetesUpgrade that it drives: one that is deleted is not made again.
const annotationUpgrade = "managedupgrade.appuio.io/kubernetesupgrade"

// upgradeName is the name of the upgrade that a job makes: however often it is asked for, there is one.
func upgradeName(job *v1beta1.UpgradeJob) string {
	uid := string(job.UID)
	return "upgrade-" + job.Version() + "-" + uid[:min(8, len(uid))]
}

// adoptable says whether a job began the upgrade, so that another one may go on with it, and no person has paused or deleted it.
func adoptable(u *v1alpha1.KubernetesUpgrade) bool {
	return u.Annotations[v1beta1.AnnotationLock] != "" && u.DeletionTimestamp == nil && (!u.Spec.Paused || halted(u))
}

// halted says that a job paused the upgrade, as its time was over. A person's pause is not for jobs to end.
func halted(u *v1alpha1.KubernetesUpgrade) bool {
	return u.Annotations[v1beta1.AnnotationPausedBy] != ""
}

// stopped says that an upgrade has failed, and that nobody has asked it to go on since.
func stopped(u *v1alpha1.KubernetesUpgrade) bool {
	return u.Status.State == v1alpha1.StateUpgradeFailed && u.Spec.Resume <= u.Status.Resumed
}

// ownOf is the upgrade that the job drives; nil where there is none.
func ownOf(upgrades []v1alpha1.KubernetesUpgrade, job *v1beta1.UpgradeJob) *v1alpha1.KubernetesUpgrade {
	for i := range upgrades {
		u := &upgrades[i]
		if u.Annotations[v1beta1.AnnotationLock] == maintenance.Name(job) && u.Spec.ToVersion == job.Version() {
			return u
		}
	}
	return nil
}

// unfinished is an upgrade that has not ended, one that is being deleted included: its nodes are still in its hands.
func unfinished(upgrades []v1alpha1.KubernetesUpgrade) *v1alpha1.KubernetesUpgrade {
	for i := range upgrades {
		if !upgrades[i].Finished() || upgrades[i].DeletionTimestamp != nil {
			return &upgrades[i]
		}
	}
	return nil
}

// busy says why an unfinished upgrade is in the way.
func busy(u *v1alpha1.KubernetesUpgrade) string {
	state := string(u.Status.State)
	switch {
	case u.DeletionTimestamp != nil:
		state = "it is being deleted"
	case u.Spec.Paused && !halted(u):
		return fmt.Sprintf("KubernetesUpgrade %s to %s was paused by a person: `refit resume %s` goes on", u.Name, u.Spec.ToVersion, u.Name)
	case state == "":
		state = "it begins"
	}
	return fmt.Sprintf("KubernetesUpgrade %s to %s has not ended (%s): see `refit status %s`", u.Name, u.Spec.ToVersion, state, u.Name)
}

// failure is why an upgrade will not get on without a person; empty while it may.
func failure(u *v1alpha1.KubernetesUpgrade) string {
	switch {
	case u.DeletionTimestamp != nil:
		return fmt.Sprintf("KubernetesUpgrade %s was deleted", u.Name)
	case stopped(u):
		return fmt.Sprintf("KubernetesUpgrade %s failed: %s. See `refit status %s`; the next window goes on with it, and so does `refit resume`", u.Name, u.Status.Waiting, u.Name)
	case u.Status.State == v1alpha1.StateUpgradeAborted && u.Finished():
		return fmt.Sprintf("KubernetesUpgrade %s was aborted", u.Name)
	}
	return ""
}

func progress(u *v1alpha1.KubernetesUpgrade) string {
	parts := []string{fmt.Sprintf("KubernetesUpgrade %s", u.Name)}
	if u.Status.State != "" {
		parts[0] += fmt.Sprintf(" is %s, %d of %d nodes", u.Status.State, u.Status.Nodes.Upgraded, u.Status.Nodes.Total)
	} else {
		parts[0] += " begins"
	}
	if u.Spec.Paused {
		parts = append(parts, "it is paused; `refit resume` goes on")
	}
	if u.Status.Waiting != "" {
		parts = append(parts, u.Status.Waiting)
	}
	return strings.Join(parts, "; ")
}
