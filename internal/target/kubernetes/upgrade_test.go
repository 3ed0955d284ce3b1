package kubernetes

import (
	"testing"

	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"refit.dev/refit/api/managedupgrade/v1beta1"
	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/maintenance"
)

func TestWhatAJobMakesOfTheUpgradesThatAreThere(t *testing.T) {
	const me, to = "ops/job", "v1.36.3"
	now := metav1.Now()
	upgrade := func(change func(*v1alpha1.KubernetesUpgrade)) v1alpha1.KubernetesUpgrade {
		u := v1alpha1.KubernetesUpgrade{ObjectMeta: metav1.ObjectMeta{Name: "u", Annotations: map[string]string{}}, Spec: v1alpha1.KubernetesUpgradeSpec{ToVersion: to}}
		u.Status.State = v1alpha1.StateUpgradingKubelets
		change(&u)
		return u
	}
	by := func(job string) func(*v1alpha1.KubernetesUpgrade) {
		return func(u *v1alpha1.KubernetesUpgrade) { u.Annotations[v1beta1.AnnotationLock] = job }
	}
	for _, tt := range []struct {
		name     string
		upgrades []v1alpha1.KubernetesUpgrade
		noted    string
		// what the job sees
		requested, driven bool
		failed, busy      string
	}{
		{"none", nil, "", false, false, "", ""},
		{"its own, under way", []v1alpha1.KubernetesUpgrade{upgrade(by(me))}, "u", true, true, "", ""},
		{"its own, failed", []v1alpha1.KubernetesUpgrade{upgrade(func(u *v1alpha1.KubernetesUpgrade) { by(me)(u); u.Status.State = v1alpha1.StateUpgradeFailed })}, "u", true, false, "failed", ""},
		{"its own, failed and asked to go on", []v1alpha1.KubernetesUpgrade{upgrade(func(u *v1alpha1.KubernetesUpgrade) {
			by(me)(u)
			u.Status.State, u.Spec.Resume = v1alpha1.StateUpgradeFailed, 1
		})}, "u", true, true, "", ""},
		{"its own, being deleted", []v1alpha1.KubernetesUpgrade{upgrade(func(u *v1alpha1.KubernetesUpgrade) { by(me)(u); u.DeletionTimestamp = &now })}, "u", true, false, "was deleted", ""},
		{"its own, gone", nil, "u", true, false, "somebody has deleted it", ""},
		{"an earlier job's, which halted it", []v1alpha1.KubernetesUpgrade{upgrade(func(u *v1alpha1.KubernetesUpgrade) {
			by("ops/earlier")(u)
			u.Spec.Paused, u.Annotations[v1beta1.AnnotationPausedBy] = true, "ops/earlier"
		})}, "", false, false, "", ""},
		{"an earlier job's, which a person paused", []v1alpha1.KubernetesUpgrade{upgrade(func(u *v1alpha1.KubernetesUpgrade) { by("ops/earlier")(u); u.Spec.Paused = true })}, "", false, false, "", "paused by a person"},
		{"a person's", []v1alpha1.KubernetesUpgrade{upgrade(func(*v1alpha1.KubernetesUpgrade) {})}, "", false, false, "", "has not ended"},
		{"an earlier job's to another version", []v1alpha1.KubernetesUpgrade{upgrade(func(u *v1alpha1.KubernetesUpgrade) { by("ops/earlier")(u); u.Spec.ToVersion = "v1.36.1" })}, "", false, false, "", "has not ended"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := NewWithT(t)
			job := &v1beta1.UpgradeJob{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "job"}, Spec: v1beta1.UpgradeJobSpec{DesiredVersion: &configv1.Update{Version: to}}}
			if tt.noted != "" {
				job.Annotations = map[string]string{annotationUpgrade: tt.noted}
			}
			var seen maintenance.Target
			(&Target{}).standing(&seen, job, nil, tt.upgrades)
			g.Expect(seen.Requested).To(Equal(tt.requested))
			g.Expect(seen.Driven).To(Equal(tt.driven))
			g.Expect(seen.Failed).To(ContainSubstring(tt.failed))
			g.Expect(seen.Failed == "").To(Equal(tt.failed == ""))
			g.Expect(seen.Busy).To(ContainSubstring(tt.busy))
			g.Expect(seen.Busy == "").To(Equal(tt.busy == ""), seen.Busy)
		})
	}
}
