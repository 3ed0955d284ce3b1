package manager

import (
	"context"
	"os"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/node/spec"
	"refit.dev/refit/internal/testcluster"
)

func TestMain(m *testing.M) { os.Exit(testcluster.Main(m)) }

// ran is a manager that a test started.
type ran struct {
	stop func()
	done chan error
}

func startManager(t *testing.T, elect bool) *ran {
	t.Helper()
	g := NewWithT(t)
	ctx, cancel := context.WithCancel(t.Context())
	o := Options{LeaderElect: elect, Namespace: v1alpha1.Namespace, Metrics: "0", Probes: "0"}
	// It runs with the rights that it is installed with, and none more.
	mgr, k, err := build(testcluster.Start(t).As("refit-manager"), o)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(register(ctx, mgr, o, k)).To(Succeed())
	r := &ran{done: make(chan error, 1)}
	go func() { r.done <- mgr.Start(ctx) }()
	r.stop = func() {
		cancel()
		select {
		case err := <-r.done:
			g.Expect(err).NotTo(HaveOccurred())
			r.done <- nil
		case <-time.After(30 * time.Second):
			t.Error("the manager does not end")
		}
	}
	t.Cleanup(r.stop)
	return r
}

// upgrade of a cluster whose etcd nobody can ask, as an operator with etcd elsewhere would write it.
func upgrade() *v1alpha1.KubernetesUpgrade {
	return &v1alpha1.KubernetesUpgrade{ObjectMeta: metav1.ObjectMeta{Name: to}, Spec: v1alpha1.KubernetesUpgradeSpec{ToVersion: to, ExcludedGates: []string{"etcd"}}}
}

func (p *play) state(g Gomega) v1alpha1.KubernetesUpgradeStatus {
	var u v1alpha1.KubernetesUpgrade
	g.Expect(p.client.Get(p.ctx, client.ObjectKey{Name: to}, &u)).To(Succeed())
	return u.Status
}

const patience = 90 * time.Second

func TestAClusterIsUpgraded(t *testing.T) {
	g := NewWithT(t)
	p := newPlay(t, 3, 3)
	startManager(t, false)
	go p.run(t.Context())
	g.Expect(p.client.Create(p.ctx, upgrade())).To(Succeed())

	g.Eventually(func(g Gomega) {
		s := p.state(g)
		g.Expect(s.State).To(Equal(v1alpha1.StateUpgradeComplete), "%+v", s)
	}, patience, "200ms").Should(Succeed())

	order, violations, created := p.seen()
	g.Expect(violations).To(BeEmpty())
	g.Expect(order).To(HaveLen(6))
	g.Expect(order[:3]).To(ConsistOf("cp-0", "cp-1", "cp-2"), "control planes come first")
	for name, times := range created {
		g.Expect(times).To(Equal(1), name)
	}
	g.Expect(created).To(HaveKey("cp-1-etcd-backup"))
	s := p.state(g)
	g.Expect(s.Nodes).To(Equal(v1alpha1.NodeCounts{Total: 6, Upgraded: 6}))
	g.Eventually(func(g Gomega) {
		var v v1alpha1.KubernetesVersion
		g.Expect(p.client.Get(p.ctx, client.ObjectKey{Name: to}, &v)).To(Succeed())
		g.Expect(v.Status.State).To(Equal(v1alpha1.VersionActive))
		g.Expect(v.Status.Target).To(BeTrue())
	}, patience, "200ms").Should(Succeed())
	g.Expect(p.reasons(g)).To(ContainElements("Complete", "KubeletUpgraded", "Completed", "EtcdCopied"))
}

// reasons are those of all events.
func (p *play) reasons(g Gomega) []string {
	var list corev1.EventList
	g.Expect(p.client.List(p.ctx, &list)).To(Succeed())
	var out []string
	for _, e := range list.Items {
		out = append(out, e.Reason)
	}
	return out
}

func TestAnotherManagerGoesOnWhereTheLeaderStopped(t *testing.T) {
	g := NewWithT(t)
	p := newPlay(t, 3, 2)
	first := startManager(t, true)
	go p.run(t.Context())
	g.Expect(p.client.Create(p.ctx, upgrade())).To(Succeed())
	g.Eventually(func(g Gomega) { g.Expect(p.state(g).State).To(Equal(v1alpha1.StateUpgradingFirstMaster)) }, patience, "20ms").Should(Succeed())

	startManager(t, true)
	first.stop()
	g.Eventually(func(g Gomega) {
		s := p.state(g)
		g.Expect(s.State).To(Equal(v1alpha1.StateUpgradeComplete), "%+v", s)
	}, patience, "200ms").Should(Succeed())
	_, violations, created := p.seen()
	g.Expect(violations).To(BeEmpty())
	for name, times := range created {
		g.Expect(times).To(Equal(1), name)
	}
}

func TestAControlPlaneThatFailsStopsTheUpgradeUntilItIsResumed(t *testing.T) {
	g := NewWithT(t)
	p := newPlay(t, 3, 1)
	broken := true
	p.fail = func(node string, step v1alpha1.StepName) spec.ExitCode {
		p.mu.Lock()
		defer p.mu.Unlock()
		if broken && node == "cp-1" && step == v1alpha1.StepKubelet {
			return spec.ExitRolledBack
		}
		return spec.ExitDone
	}
	startManager(t, false)
	go p.run(t.Context())
	g.Expect(p.client.Create(p.ctx, upgrade())).To(Succeed())
	g.Eventually(func(g Gomega) {
		s := p.state(g)
		g.Expect(s.State).To(Equal(v1alpha1.StateUpgradeFailed), "%+v", s)
		g.Expect(s.Waiting).To(ContainSubstring("cp-1"))
	}, patience, "200ms").Should(Succeed())
	order, _, _ := p.seen()
	g.Consistently(func() []string { o, _, _ := p.seen(); return o }, "3s", "200ms").Should(Equal(order), "nothing new is started")
	g.Expect(order).NotTo(ContainElement("worker-0"))
	g.Eventually(func(g Gomega) {
		var n corev1.Node
		g.Expect(p.client.Get(p.ctx, client.ObjectKey{Name: "cp-1"}, &n)).To(Succeed())
		g.Expect(n.Spec.Unschedulable).To(BeFalse(), "the cordon of the upgrade is lifted")
	}, patience, "200ms").Should(Succeed())

	p.note(func() { broken = false })
	var u v1alpha1.KubernetesUpgrade
	g.Expect(p.client.Get(p.ctx, client.ObjectKey{Name: to}, &u)).To(Succeed())
	patch := client.MergeFrom(u.DeepCopy())
	u.Spec.Resume = 1
	g.Expect(p.client.Patch(p.ctx, &u, patch)).To(Succeed())
	g.Eventually(func(g Gomega) {
		s := p.state(g)
		g.Expect(s.State).To(Equal(v1alpha1.StateUpgradeComplete), "%+v", s)
	}, patience, "200ms").Should(Succeed())
	_, violations, _ := p.seen()
	g.Expect(violations).To(BeEmpty())
}

func TestASecondUpgradeTouchesNothing(t *testing.T) {
	g := NewWithT(t)
	p := newPlay(t, 1, 1)
	startManager(t, false)
	first := upgrade()
	first.Spec.Paused = true
	g.Expect(p.client.Create(p.ctx, first)).To(Succeed())
	g.Eventually(func(g Gomega) { g.Expect(p.state(g).Waiting).To(ContainSubstring("paused")) }, patience, "100ms").Should(Succeed())
	second := &v1alpha1.KubernetesUpgrade{ObjectMeta: metav1.ObjectMeta{Name: "v1.36.3-again"}, Spec: v1alpha1.KubernetesUpgradeSpec{ToVersion: to}}
	g.Expect(p.client.Create(p.ctx, second)).To(Succeed())
	g.Eventually(func(g Gomega) {
		var u v1alpha1.KubernetesUpgrade
		g.Expect(p.client.Get(p.ctx, client.ObjectKey{Name: "v1.36.3-again"}, &u)).To(Succeed())
		g.Expect(u.Reason()).To(Equal("AnotherUpgrade"))
		g.Expect(u.Status.Waiting).To(ContainSubstring(to))
	}, patience, "100ms").Should(Succeed())
	var claims v1alpha1.NodeUpgradeList
	g.Expect(p.client.List(p.ctx, &claims)).To(Succeed())
	g.Expect(claims.Items).To(BeEmpty())
}

func TestAPersonsCordonStays(t *testing.T) {
	g := NewWithT(t)
	p := newPlay(t, 1, 2)
	p.change(p.ctx, "worker-0", func(n *corev1.Node) { n.Spec.Unschedulable = true })
	startManager(t, false)
	go p.run(t.Context())
	g.Expect(p.client.Create(p.ctx, upgrade())).To(Succeed())
	g.Eventually(func(g Gomega) {
		var n corev1.Node
		g.Expect(p.client.Get(p.ctx, client.ObjectKey{Name: "worker-0"}, &n)).To(Succeed())
		g.Expect(n.Status.NodeInfo.KubeletVersion).To(Equal(to))
	}, patience, "200ms").Should(Succeed())
	var n corev1.Node
	g.Expect(p.client.Get(p.ctx, client.ObjectKey{Name: "worker-0"}, &n)).To(Succeed())
	g.Expect(n.Spec.Unschedulable).To(BeTrue())
	// With one worker out for good, no other may go: it waits until the person's node is back.
	p.change(p.ctx, "worker-0", func(n *corev1.Node) { n.Spec.Unschedulable = false })
	g.Eventually(func(g Gomega) { g.Expect(p.state(g).State).To(Equal(v1alpha1.StateUpgradeComplete)) }, patience, "200ms").Should(Succeed())
	_, violations, _ := p.seen()
	g.Expect(violations).To(BeEmpty())
}

func TestANodeThatAPersonUncordonedCountsAsDone(t *testing.T) {
	g := NewWithT(t)
	p := newPlay(t, 1, 1)
	// What an upgrade that is gone left behind when a person uncordoned its node.
	p.change(p.ctx, "worker-0", func(n *corev1.Node) {
		metav1.SetMetaDataAnnotation(&n.ObjectMeta, v1alpha1.AnnotationCordonedBy, "gone")
		metav1.SetMetaDataAnnotation(&n.ObjectMeta, "others", "stay") // the manager's cache does not keep it
	})
	startManager(t, false)
	g.Eventually(func(g Gomega) {
		var n corev1.Node
		g.Expect(p.client.Get(p.ctx, client.ObjectKey{Name: "worker-0"}, &n)).To(Succeed())
		g.Expect(n.Annotations).NotTo(HaveKey(v1alpha1.AnnotationCordonedBy))
		g.Expect(n.Annotations).To(HaveKeyWithValue("others", "stay"))
	}, patience, "200ms").Should(Succeed())
}

func TestAnAbortLeavesEveryNodeWhole(t *testing.T) {
	g := NewWithT(t)
	p := newPlay(t, 1, 3)
	startManager(t, false)
	go p.run(t.Context())
	g.Expect(p.client.Create(p.ctx, upgrade())).To(Succeed())
	g.Eventually(func(g Gomega) { g.Expect(p.state(g).State).To(Equal(v1alpha1.StateUpgradingKubelets)) }, patience, "20ms").Should(Succeed())
	var u v1alpha1.KubernetesUpgrade
	g.Expect(p.client.Get(p.ctx, client.ObjectKey{Name: to}, &u)).To(Succeed())
	patch := client.MergeFrom(u.DeepCopy())
	u.Spec.Abort = true
	g.Expect(p.client.Patch(p.ctx, &u, patch)).To(Succeed())
	g.Eventually(func(g Gomega) { g.Expect(p.state(g).State).To(Equal(v1alpha1.StateUpgradeAborted)) }, patience, "200ms").Should(Succeed())
	var nodes corev1.NodeList
	g.Expect(p.client.List(p.ctx, &nodes)).To(Succeed())
	for _, n := range nodes.Items {
		g.Expect(n.Spec.Unschedulable).To(BeFalse(), n.Name)
		g.Expect(n.Status.NodeInfo.KubeletVersion).To(BeElementOf(from, to))
	}
}
