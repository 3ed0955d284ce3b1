package rollout_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/rollout"
	"refit.dev/refit/internal/snapshot/fixture"
	"refit.dev/refit/internal/version"
)

// outline writes a report down, a line a step.
func outline(r rollout.PlanReport) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("%s to %v: %d nodes, %d workers at once, %s", r.From, r.Hops, len(r.Nodes), r.MaxUnavailable, r.Estimate)
	for _, v := range r.Gates {
		line("gate %s: %s", v.Level, v)
	}
	for _, s := range r.Steps {
		first := ""
		if s.First {
			first = " first"
		}
		line("at %s: %s %s to %s%s, drained %v: %s", s.After, s.Kind, s.Nodes, s.Version, first, s.Drained, s.Note)
	}
	for _, n := range r.Left {
		line("left: %s at %s: %s", n.Node, n.From, n.Reason)
	}
	line("open: %t", r.Open())
	return b.String()
}

func TestPreviewReadsLikeWhatHappens(t *testing.T) {
	t.Run("three control planes and two workers", func(t *testing.T) {
		r := rollout.Preview(fixture.Cluster(3, 2, "v1.35.4"), rollout.PreviewRequest{To: "v1.36.3"})
		golden(t, "preview-three-and-two", outline(r))
	})
	t.Run("something is wrong with etcd, a worker is not Ready and another is cordoned", func(t *testing.T) {
		c := fixture.Cluster(3, 4, "v1.34.4")
		c.Etcd.Members[1].Healthy, c.Etcd.Members[1].Error = false, "connection refused"
		c.Node("w-2").Ready, c.Node("w-2").NotReadyReason = false, "Kubelet stopped posting node status."
		c.Node("w-3").Cordoned = true
		r := rollout.Preview(c, rollout.PreviewRequest{To: "v1.36.3"})
		golden(t, "preview-troubles", outline(r))
	})
	t.Run("a single node is not drained", func(t *testing.T) {
		r := rollout.Preview(fixture.Cluster(1, 0, "v1.35.4"), rollout.PreviewRequest{To: "v1.36.3"})
		golden(t, "preview-single", outline(r))
	})
}

func TestPreview(t *testing.T) {
	t.Run("says what to do about a plan that does not exist, wherever that was named", func(t *testing.T) {
		r := rollout.Preview(fixture.Cluster(1, 0, "v1.35.4"), rollout.PreviewRequest{To: "v1.36.3", Plan: "weekend"})
		NewWithT(t).Expect(r.Refused).To(Equal("there is no RolloutPlan weekend: create it, or name no plan for the default"))
	})
	t.Run("has the networking step where the version names one", func(t *testing.T) {
		g := NewWithT(t)
		c := fixture.Cluster(3, 1, "v1.35.4")
		c.Version("v1.36.3").Spec.Networking = &v1alpha1.Networking{ConfigMap: v1alpha1.ConfigMapReference{Namespace: "refit-system", Name: "network"}}
		var kinds []rollout.StepKind
		for _, s := range rollout.Preview(c, rollout.PreviewRequest{To: "v1.36.3"}).Steps {
			kinds = append(kinds, s.Kind)
		}
		g.Expect(kinds).To(Equal([]rollout.StepKind{rollout.StepControlPlane, rollout.StepNetworking, rollout.StepControlPlane, rollout.StepControlPlane, rollout.StepWorkers}))
	})
	t.Run("says why there is no such upgrade", func(t *testing.T) {
		g := NewWithT(t)
		r := rollout.Preview(fixture.Cluster(1, 0, "v1.35.4"), rollout.PreviewRequest{To: "v1.37.0"})
		var unknown *version.UnknownError
		g.Expect(r.Err).To(BeAssignableToTypeOf(unknown))
		g.Expect(r.Open()).To(BeFalse())
		g.Expect(r.Steps).To(BeEmpty())
	})
	t.Run("leaves the cluster that it was given alone", func(t *testing.T) {
		g := NewWithT(t)
		c := fixture.Cluster(3, 3, "v1.35.4")
		rollout.Preview(c, rollout.PreviewRequest{To: "v1.36.3"})
		g.Expect(c).To(Equal(fixture.Cluster(3, 3, "v1.35.4")))
	})
	t.Run("goes in waves of the limit", func(t *testing.T) {
		g := NewWithT(t)
		c := fixture.Cluster(1, 7, "v1.36.1")
		most := intstr.FromInt32(3)
		c.Plans = []v1alpha1.RolloutPlan{{Spec: v1alpha1.RolloutPlanSpec{MaxUnavailable: &most}}}
		c.Plans[0].Name = "three"
		r := rollout.Preview(c, rollout.PreviewRequest{To: "v1.36.3", Plan: "three"})
		var waves [][]string
		for _, s := range r.Steps {
			if s.Kind == rollout.StepWorkers {
				waves = append(waves, s.Nodes)
				g.Expect(s.Drained).To(BeEmpty(), "a patch release drains nobody")
			}
		}
		g.Expect(waves).To(Equal([][]string{{"w-1", "w-2", "w-3"}, {"w-4", "w-5", "w-6"}, {"w-7"}}))
		g.Expect(r.Estimate).To(Equal(20*time.Second + 90*time.Second + 3*30*time.Second))
	})
	t.Run("works the last of very many waves out", func(t *testing.T) {
		g := NewWithT(t)
		r := rollout.Preview(fixture.Cluster(1, 700, "v1.35.4"), rollout.PreviewRequest{To: "v1.36.3"})
		seen := map[string]bool{}
		for _, s := range r.Steps {
			for _, n := range s.Nodes {
				g.Expect(seen).NotTo(HaveKey(n))
				seen[n] = true
			}
		}
		g.Expect(seen).To(HaveLen(701))
		g.Expect(r.Estimate).To(Equal(20*time.Second + 90*time.Second + 700*30*time.Second))
	})
	t.Run("is quick for thousands of nodes", func(t *testing.T) {
		g := NewWithT(t)
		c := fixture.Cluster(3, 5000, "v1.35.4")
		percent := intstr.FromString("1%")
		c.Plans = []v1alpha1.RolloutPlan{{Spec: v1alpha1.RolloutPlanSpec{MaxUnavailable: &percent, StagingParallelism: 100}}}
		c.Plans[0].Name = "many"
		begun := time.Now()
		r := rollout.Preview(c, rollout.PreviewRequest{To: "v1.36.3", Plan: "many"})
		t.Log(time.Since(begun), r.Estimate)
		g.Expect(r.Left).To(BeEmpty())
		g.Expect(r.Steps).To(HaveLen(3 + 100))
	})
}

func BenchmarkDecide(b *testing.B) {
	c, u := fixture.Cluster(3, 5000, "v1.35.4"), fixture.Upgrade("v1.36.3")
	plan(c, u, v1alpha1.RolloutPlanSpec{MaxUnavailable: percent("10%"), StagingParallelism: 5000, Groups: []v1alpha1.NodeGroup{
		{Name: "rest", NodeSet: v1alpha1.NodeSet{Selector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "none", Operator: metav1.LabelSelectorOpDoesNotExist}}}}}}})
	w := newWorld(c, u)
	w.until(30, func() bool { return w.upgrade.Status.State == v1alpha1.StateUpgradingKubelets })
	seen := w.observe()
	b.ResetTimer()
	for b.Loop() {
		rollout.Decide(rollout.Input{Cluster: seen, Upgrade: w.upgrade})
	}
}
