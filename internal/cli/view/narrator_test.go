package view

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"refit.dev/refit/api/v1alpha1"
)

func splitLines(text string) []string { return strings.Split(strings.TrimSuffix(text, "\n"), "\n") }

// story tells what happened between observations, which the given changes make one after another.
func story(changes ...func(*v1alpha1.KubernetesUpgrade, *v1alpha1.NodeUpgrade)) string {
	seen := midway()
	seen.NodeUpgrades = seen.NodeUpgrades[1:2]
	n := NewNarrator("up")
	lines := n.Tell(seen, at(112).Time)
	for i, change := range changes {
		change(&seen.Upgrades[0], &seen.NodeUpgrades[0])
		seen.NodeUpgrades[0].Status.Steps = append([]v1alpha1.StepStatus(nil), seen.NodeUpgrades[0].Status.Steps...)
		lines = append(lines, n.Tell(seen, at(120+i).Time)...)
	}
	return strings.Join(lines, "\n") + "\n"
}

func last(u *v1alpha1.NodeUpgrade) *v1alpha1.StepStatus {
	return &u.Status.Steps[len(u.Status.Steps)-1]
}

func TestAnUpgradeIsToldInLines(t *testing.T) {
	golden(t, "story.golden", story(
		func(_ *v1alpha1.KubernetesUpgrade, n *v1alpha1.NodeUpgrade) {
			last(n).State, last(n).FinishedAt, last(n).Message = v1alpha1.StepSucceeded, at(118), "5 pods moved"
		},
		func(*v1alpha1.KubernetesUpgrade, *v1alpha1.NodeUpgrade) {}, // nothing new is nothing said
		func(u *v1alpha1.KubernetesUpgrade, n *v1alpha1.NodeUpgrade) {
			n.Status.Steps = append(n.Status.Steps, v1alpha1.StepStatus{Name: v1alpha1.StepKubelet, State: v1alpha1.StepRunning, Attempt: 2, StartedAt: at(119)})
			n.Status.Attempts = 1
			u.Status.Waiting = ""
		},
		func(u *v1alpha1.KubernetesUpgrade, n *v1alpha1.NodeUpgrade) {
			n.Status.Attempts = 2
			last(n).State, last(n).FinishedAt, last(n).Message = v1alpha1.StepFailed, at(125), "the new kubelet did not come up"
			n.Status.Phase, n.Status.Step, n.Status.FinishedAt = v1alpha1.NodeFailed, v1alpha1.StepKubelet, at(125)
			u.Status.State = v1alpha1.StateUpgradeFailed
			u.Status.Nodes = v1alpha1.NodeCounts{Total: 4, Upgraded: 1}
		},
		func(u *v1alpha1.KubernetesUpgrade, n *v1alpha1.NodeUpgrade) {
			last(n).State, last(n).Attempt, last(n).FinishedAt = v1alpha1.StepSucceeded, 3, at(130)
			last(n).Message = ""
			n.Status.Phase, n.Status.FinishedAt = v1alpha1.NodeCompleted, at(131)
			u.Status.State = v1alpha1.StateUpgradeComplete
		},
	))
}

func TestTheAPIServersAbsenceIsToldOnceAndItsReturnToo(t *testing.T) {
	g := NewWithT(t)
	seen := midway()
	n := NewNarrator("up")
	n.Tell(seen, at(100).Time)
	seen.LostSince, seen.LostReason = at(101).Time, "connection refused"
	g.Expect(n.Tell(seen, at(102).Time)).To(BeEmpty(), "a blink is not worth a line")
	g.Expect(n.Tell(seen, at(104).Time)).To(ConsistOf(ContainSubstring("does not answer, trying again: connection refused")))
	g.Expect(n.Tell(seen, at(110).Time)).To(BeEmpty())
	seen.LostSince = metav1.Time{}.Time
	g.Expect(n.Tell(seen, at(111).Time)).To(ConsistOf(ContainSubstring("answers again")))
	g.Expect(n.Tell(seen, at(112).Time)).To(BeEmpty())
}

func TestWhatTheStagingDidIsNoAttemptOfTheTurn(t *testing.T) {
	g := NewWithT(t)
	seen := midway()
	n := NewNarrator("up")
	n.Tell(seen, at(100).Time)
	u := &seen.NodeUpgrades[2]
	tell := func(attempts, interruptions int32, steps ...v1alpha1.StepStatus) []string {
		u.Status.Phase, u.Status.Steps, u.Status.Attempts, u.Status.Interruptions = v1alpha1.NodeUpgrading, steps, attempts, interruptions
		return n.Tell(seen, at(200).Time)
	}
	again := func(attempt int32) v1alpha1.StepStatus {
		return v1alpha1.StepStatus{Name: v1alpha1.StepPreflight, State: v1alpha1.StepRunning, Attempt: attempt, StartedAt: at(200)}
	}
	g.Expect(tell(0, 0, again(2))).To(ContainElement(HaveSuffix("node worker-2: preflight")), "the first Pod of its turn")
	g.Expect(tell(1, 0, again(3))).To(ConsistOf(HaveSuffix("node worker-2: preflight, attempt 2")), "a Pod after one that failed")
	g.Expect(tell(1, 1, again(4))).To(ConsistOf(HaveSuffix("node worker-2: preflight, attempt 3")), "and after one that was cut off")
}
