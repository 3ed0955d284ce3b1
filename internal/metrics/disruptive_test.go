package metrics

import (
	"testing"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"refit.dev/refit/api/managedupgrade/v1beta1"
)

func TestWhichJobsADisruptiveHookIsAbout(t *testing.T) {
	for _, tt := range []struct {
		name     string
		change   func(*v1beta1.UpgradeJobHook)
		finished bool
		want     string
	}{
		{"it selects the job", func(*v1beta1.UpgradeJobHook) {}, false, "true"},
		{"it ran for the job", func(*v1beta1.UpgradeJobHook) {}, true, "true"},
		{"it selects another", func(h *v1beta1.UpgradeJobHook) { h.Spec.Selector.MatchLabels = map[string]string{"a": "c"} }, false, "false"},
		{"its selector cannot be read", func(h *v1beta1.UpgradeJobHook) {
			h.Spec.Selector.MatchExpressions = []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Like"}}
		}, false, "false"},
		{"it is of another namespace", func(h *v1beta1.UpgradeJobHook) { h.Namespace = "other" }, false, "false"},
		{"it disturbs nobody", func(h *v1beta1.UpgradeJobHook) { h.Spec.Disruptive = false }, false, "false"},
		{"it is newer than the job's end", func(h *v1beta1.UpgradeJobHook) { h.CreationTimestamp = at(0) }, true, "false"},
		{"it runs once, and nobody has it", func(h *v1beta1.UpgradeJobHook) { h.Spec.Run = v1beta1.RunNext }, false, "true"},
		{"it runs once, and the job ended without it", func(h *v1beta1.UpgradeJobHook) { h.Spec.Run = v1beta1.RunNext }, true, "false"},
		{"it runs once, and the job has it", func(h *v1beta1.UpgradeJobHook) {
			h.Spec.Run, h.Status.ClaimedBy = v1beta1.RunNext, &v1beta1.ClaimReference{UID: "me"}
		}, true, "true"},
		{"it runs once, and another has it", func(h *v1beta1.UpgradeJobHook) {
			h.Spec.Run, h.Status.ClaimedBy = v1beta1.RunNext, &v1beta1.ClaimReference{UID: "other"}
		}, false, "false"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := &v1beta1.UpgradeJobHook{ObjectMeta: named("h"), Spec: v1beta1.UpgradeJobHookSpec{Disruptive: true, Selector: metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}}}}
			tt.change(h)
			j := &v1beta1.UpgradeJob{ObjectMeta: named("j")}
			j.UID, j.Labels = "me", map[string]string{"a": "b"}
			if tt.finished {
				j.Status.Conditions = []metav1.Condition{is(v1beta1.ConditionSucceeded, v1beta1.ReasonSucceeded)}
			}
			NewWithT(t).Expect(gather(t, collector(reader(t, h, j), Options{Aliases: true}))).To(HaveKey(ContainSubstring("matches_disruptive_hooks=" + tt.want)))
		})
	}
}
