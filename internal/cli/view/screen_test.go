package view

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/cli/feed"
)

var start = time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)

func at(seconds int) *metav1.Time {
	return &metav1.Time{Time: start.Add(time.Duration(seconds) * time.Second)}
}

func node(name, version string, controlPlane bool) corev1.Node {
	n := corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{}}}
	n.Status.NodeInfo.KubeletVersion = version
	n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	if controlPlane {
		n.Labels["node-role.kubernetes.io/control-plane"] = ""
	}
	return n
}

func upgrade(nodeName string, phase v1alpha1.NodeUpgradePhase, steps ...v1alpha1.StepStatus) v1alpha1.NodeUpgrade {
	u := v1alpha1.NodeUpgrade{ObjectMeta: metav1.ObjectMeta{Name: nodeName, Labels: map[string]string{v1alpha1.LabelUpgrade: "up"}}}
	u.Spec.Machine.Name, u.Spec.KubernetesVersion = nodeName, "v1.36.3"
	u.Status.Phase, u.Status.Steps = phase, steps
	if len(steps) > 0 {
		u.Status.StartedAt, u.Status.Step = steps[0].StartedAt, steps[len(steps)-1].Name
	}
	return u
}

// midway is a cluster in the middle of its upgrade.
func midway() feed.Seen {
	done := upgrade("cp-1", v1alpha1.NodeCompleted,
		v1alpha1.StepStatus{Name: v1alpha1.StepPullImages, State: v1alpha1.StepSucceeded, StartedAt: at(-60), FinishedAt: at(-50)},
		v1alpha1.StepStatus{Name: v1alpha1.StepKubeadm, State: v1alpha1.StepSucceeded, StartedAt: at(0), FinishedAt: at(80)})
	done.Status.FinishedAt = at(92)
	running := upgrade("worker-1", v1alpha1.NodeUpgrading,
		v1alpha1.StepStatus{Name: v1alpha1.StepPreflight, State: v1alpha1.StepSucceeded, StartedAt: at(95), FinishedAt: at(96)},
		v1alpha1.StepStatus{Name: v1alpha1.StepCopyBinaries, State: v1alpha1.StepSucceeded, StartedAt: at(96), FinishedAt: at(99)},
		v1alpha1.StepStatus{Name: v1alpha1.StepDrain, State: v1alpha1.StepRunning, StartedAt: at(100)})
	up := v1alpha1.KubernetesUpgrade{ObjectMeta: metav1.ObjectMeta{Name: "up"}}
	up.Spec.ToVersion = "v1.36.3"
	up.Status = v1alpha1.KubernetesUpgradeStatus{State: v1alpha1.StateUpgradingKubelets, FromVersion: "v1.35.4", Hops: []string{"v1.36.3"},
		StartedAt: at(0), Waiting: "worker-1 is being drained: PodDisruptionBudget shop/web allows no disruption now"}
	return feed.Seen{
		Upgrades:     []v1alpha1.KubernetesUpgrade{up},
		Nodes:        []corev1.Node{node("worker-10", "v1.35.4", false), node("worker-2", "v1.35.4", false), node("worker-1", "v1.35.4", false), node("cp-1", "v1.36.3", true)},
		NodeUpgrades: []v1alpha1.NodeUpgrade{done, running, upgrade("worker-2", v1alpha1.NodeStaged)},
	}
}

// golden compares with a file of testdata; UPDATE_GOLDEN=1 writes it anew.
func golden(t *testing.T, name, got string) {
	t.Helper()
	g := NewWithT(t)
	file := filepath.Join("testdata", name)
	if os.Getenv("UPDATE_GOLDEN") != "" {
		g.Expect(os.WriteFile(file, []byte(got), 0o644)).To(Succeed())
	}
	want, err := os.ReadFile(file)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(got).To(Equal(string(want)))
}

func TestTheScreenShowsNodesStepsAndTimes(t *testing.T) {
	golden(t, "midway.golden", ansi.Strip(Screen("up", midway(), at(112).Time, 110, 40)))
}

func TestAnAPIServerThatIsAwayIsSaidOnTheScreen(t *testing.T) {
	seen := midway()
	seen.LostSince, seen.LostReason = at(100).Time, "connection refused"
	golden(t, "lost.golden", ansi.Strip(Screen("up", seen, at(112).Time, 110, 40)))
}

func TestWithoutRoomTheNodesOfMostInterestAreShown(t *testing.T) {
	seen := midway()
	for range 500 {
		seen.Nodes = append(seen.Nodes, node("old", "v1.35.4", false))
	}
	seen.NodeUpgrades = append(seen.NodeUpgrades, upgrade("worker-10", v1alpha1.NodeFailed))
	screen := ansi.Strip(Screen("up", seen, at(112).Time, 70, 15))
	golden(t, "crowded.golden", screen)
}

func TestTheScreenNeverIsLargerThanTheTerminal(t *testing.T) {
	g := NewWithT(t)
	seen := midway()
	for height := 12; height < 40; height++ {
		for _, width := range []int{20, 40, 79, 200} {
			screen := Screen("up", seen, at(112).Time, width, height)
			lines := splitLines(screen)
			g.Expect(len(lines)).To(BeNumerically("<", height), "height %d", height)
			for _, line := range lines {
				g.Expect(ansi.StringWidth(line)).To(BeNumerically("<=", width), line)
			}
		}
	}
}

func TestAnUpgradeThatWasDeletedIsSaid(t *testing.T) {
	NewWithT(t).Expect(Screen("gone", midway(), start, 80, 24)).To(ContainSubstring("does not exist any more"))
}
