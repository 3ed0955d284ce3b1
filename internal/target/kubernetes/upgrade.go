package kubernetes

import (
	"fmt"
	"strings"

	"refit.dev/refit/api/managedupgrade/v1beta1"
	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/maintenance"
)

// adoptable says whether a job began the upgrade, so that another one may go on with it.
func adoptable(u *v1alpha1.KubernetesUpgrade) bool {
	return u.Annotations[v1beta1.AnnotationLock] != ""
}

// ownOf is the upgrade that the job drives; nil where there is none.
func ownOf(upgrades []v1alpha1.KubernetesUpgrade, job *v1beta1.UpgradeJob) *v1alpha1.KubernetesUpgrade {
	for i := range upgrades {
		u := &upgrades[i]
		if u.DeletionTimestamp == nil && u.Annotations[v1beta1.AnnotationLock] == maintenance.Name(job) && u.Spec.ToVersion == job.Version() {
			return u
		}
	}
	return nil
}

func unfinished(upgrades []v1alpha1.KubernetesUpgrade) *v1alpha1.KubernetesUpgrade {
	for i := range upgrades {
		if !upgrades[i].Finished() && upgrades[i].DeletionTimestamp == nil {
			return &upgrades[i]
		}
	}
	return nil
}

// failure is why an upgrade will not get on without a person; empty while it may.
func failure(u *v1alpha1.KubernetesUpgrade) string {
	switch u.Status.State {
	case v1alpha1.StateUpgradeFailed:
		return fmt.Sprintf("KubernetesUpgrade %s failed: %s. See `refit status %s`; the next window goes on with it, and so does `refit resume`", u.Name, u.Status.Waiting, u.Name)
	case v1alpha1.StateUpgradeAborted:
		if u.Finished() {
			return fmt.Sprintf("KubernetesUpgrade %s was aborted", u.Name)
		}
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
