package cli

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/rollout"
)

func TestWhatAGroupWaitsForIsSaidWithTheCommand(t *testing.T) {
	done := metav1.NewTime(time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC))
	plan := []v1alpha1.NodeGroup{{Name: "a", Soak: &metav1.Duration{Duration: time.Hour}}}
	for state, want := range map[v1alpha1.GroupState]string{
		v1alpha1.GroupWaiting: "the groups before it", v1alpha1.GroupApproval: "a person: `refit approve a`", v1alpha1.GroupRunning: "", v1alpha1.GroupDone: "",
		v1alpha1.GroupSoaking:   "time: it soaks until 2026-11-20 11:00:00 UTC",
		v1alpha1.GroupVerifying: "its Job: `kubectl -n refit-system get jobs -l refit.dev/upgrade=up`",
	} {
		u := &v1alpha1.KubernetesUpgrade{ObjectMeta: metav1.ObjectMeta{Name: "up"}}
		u.Status.Groups = []v1alpha1.GroupStatus{{Name: "a", State: state, NodesDoneAt: &done}}
		NewWithT(t).Expect(waitsFor(u, 0, plan)).To(Equal(want), string(state))
	}
	u := &v1alpha1.KubernetesUpgrade{Status: v1alpha1.KubernetesUpgradeStatus{Groups: []v1alpha1.GroupStatus{{Name: "a", State: v1alpha1.GroupSoaking}}}}
	NewWithT(t).Expect(waitsFor(u, 0, nil)).To(Equal("time: it soaks"), "the plan is gone")
}

// A group soaks once, after its last wave of the last version.
func TestASoakComesAfterTheLastWaveOfItsGroup(t *testing.T) {
	g := NewWithT(t)
	f := &forecast{PlanReport: rollout.PlanReport{To: "v1.36.3", Steps: []rollout.PlanStep{
		{Kind: rollout.StepWorkers, Group: "a", Version: "v1.35.4"}, {Kind: rollout.StepWorkers, Group: "a", Version: "v1.36.3"},
		{Kind: rollout.StepWorkers, Group: "b", Version: "v1.36.3"}, {Kind: rollout.StepWorkers, Group: "a", Version: "v1.36.3"},
		{Kind: rollout.StepVerification, Group: "a", Version: "v1.36.3"}}}}
	f.plan.Groups = []v1alpha1.NodeGroup{{Name: "a", Soak: &metav1.Duration{Duration: time.Hour}}, {Name: "b"}, {Name: "c", Soak: &metav1.Duration{Duration: time.Hour}}}
	g.Expect(f.soaks()).To(Equal(map[int]time.Duration{3: time.Hour}))
}
