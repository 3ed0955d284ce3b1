package cli

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/rollout"
)

func TestAnEstimateGoesByWhatTheClusterHasShown(t *testing.T) {
	g := NewWithT(t)
	at := func(seconds int) *metav1.Time { return &metav1.Time{Time: time.Unix(int64(seconds), 0)} }
	took := func(kind v1alpha1.NodeType, seconds int, phase v1alpha1.NodeUpgradePhase) *v1alpha1.NodeUpgrade {
		u := &v1alpha1.NodeUpgrade{Spec: v1alpha1.NodeUpgradeSpec{NodeType: kind}}
		u.Status.Phase, u.Status.FinishedAt = phase, at(1000+seconds)
		u.Status.Steps = []v1alpha1.StepStatus{{Name: v1alpha1.StepPullImages, StartedAt: at(0)}, {Name: v1alpha1.StepKubeadm, StartedAt: at(1000)}}
		return u
	}
	g.Expect(durationsOf(nil)).To(Equal(rollout.Durations{}))
	g.Expect(durationsOf([]*v1alpha1.NodeUpgrade{
		took(v1alpha1.NodeTypeWorker, 10, v1alpha1.NodeCompleted), took(v1alpha1.NodeTypeWorker, 500, v1alpha1.NodeCompleted),
		took(v1alpha1.NodeTypeWorker, 30, v1alpha1.NodeCompleted), took(v1alpha1.NodeTypeControlPlane, 60, v1alpha1.NodeFailed),
	})).To(Equal(rollout.Durations{Worker: 30 * time.Second}))
}
