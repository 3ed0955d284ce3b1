package manager

import (
	"slices"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"refit.dev/refit/api/v1alpha1"
)

const earlier = "v1.36.1"

// patchReleases lets the cluster go from the version back to an earlier patch release, and forward again.
func (p *play) patchReleases(g Gomega) {
	p.create(g, &v1alpha1.KubernetesVersion{ObjectMeta: metav1.ObjectMeta{Name: earlier},
		Spec: v1alpha1.KubernetesVersionSpec{Version: earlier, Image: image, UpgradeFrom: []string{"v1.35"}}})
	var v v1alpha1.KubernetesVersion
	g.Expect(p.client.Get(p.ctx, client.ObjectKey{Name: to}, &v)).To(Succeed())
	v.Spec.UpgradeFrom, v.Spec.DowngradeTo = []string{"v1.35", "v1.36"}, []string{earlier}
	g.Expect(p.client.Update(p.ctx, &v)).To(Succeed())
}

// begin starts an upgrade of that name.
func (p *play) begin(g Gomega, name, version string) {
	u := upgrade()
	u.Name, u.Spec.ToVersion = name, version
	g.Expect(p.client.Create(p.ctx, u)).To(Succeed())
}

func (p *play) set(g Gomega, name string, set func(*v1alpha1.KubernetesUpgradeSpec)) {
	var u v1alpha1.KubernetesUpgrade
	g.Expect(p.client.Get(p.ctx, client.ObjectKey{Name: name}, &u)).To(Succeed())
	patch := client.MergeFrom(u.DeepCopy())
	set(&u.Spec)
	g.Expect(p.client.Patch(p.ctx, &u, patch)).To(Succeed())
}

func (p *play) comesTo(g *WithT, name string, state v1alpha1.UpgradeState) v1alpha1.KubernetesUpgradeStatus {
	var u v1alpha1.KubernetesUpgrade
	g.Eventually(func(g Gomega) {
		g.Expect(p.client.Get(p.ctx, client.ObjectKey{Name: name}, &u)).To(Succeed())
		g.Expect(u.Status.State).To(Equal(state), "%+v", u.Status)
	}, patience, "50ms").Should(Succeed())
	return u.Status
}

// abortDuring aborts an upgrade once it is at work on a node of that kind, and returns how many nodes ran the version then.
func (p *play) abortDuring(g *WithT, name, version string, kind v1alpha1.NodeType) int32 {
	g.Eventually(func() bool {
		var claims v1alpha1.NodeUpgradeList
		_ = p.client.List(p.ctx, &claims, client.MatchingLabels{v1alpha1.LabelUpgrade: name})
		return slices.ContainsFunc(claims.Items, func(nu v1alpha1.NodeUpgrade) bool {
			return nu.Spec.NodeType == kind && nu.Spec.KubernetesVersion == version && nu.Status.Touched() && !nu.Status.Phase.Ended()
		})
	}, patience, "5ms").Should(BeTrue(), "no %s is at work", kind)
	p.set(g, name, func(s *v1alpha1.KubernetesUpgradeSpec) { s.Abort = true })
	return p.comesTo(g, name, v1alpha1.StateUpgradeAborted).Nodes.Upgraded
}

// whole checks that every node runs the version, and that nothing of Refit's is left on it.
func (p *play) whole(g *WithT, version string) {
	var nodes corev1.NodeList
	g.Expect(p.client.List(p.ctx, &nodes)).To(Succeed())
	for _, n := range nodes.Items {
		g.Expect(n.Status.NodeInfo.KubeletVersion).To(Equal(version), n.Name)
		g.Expect(n.Spec.Unschedulable).To(BeFalse(), n.Name)
	}
	var pods corev1.PodList
	g.Expect(p.client.List(p.ctx, &pods, client.InNamespace(metav1.NamespaceSystem))).To(Succeed())
	for _, pod := range pods.Items {
		g.Expect(pod.Spec.Containers[0].Image).To(HaveSuffix(version), pod.Name)
	}
	var claims v1alpha1.NodeUpgradeList
	g.Expect(p.client.List(p.ctx, &claims)).To(Succeed())
	for _, nu := range claims.Items {
		g.Expect(nu.Status.Phase.Ended()).To(BeTrue(), nu.Name)
	}
}

func TestARollbackIsAbortedResumedAndTurnedAround(t *testing.T) {
	g := NewWithT(t)
	p := newPlay(t, 3, 2)
	p.patchReleases(g)
	first := startManager(t, false)
	go p.run(t.Context())
	p.begin(g, "up", to)
	p.comesTo(g, "up", v1alpha1.StateUpgradeComplete)

	p.begin(g, "back", earlier)
	g.Expect(p.abortDuring(g, "back", earlier, v1alpha1.NodeTypeControlPlane)).To(BeNumerically("<", 5))
	p.set(g, "back", func(s *v1alpha1.KubernetesUpgradeSpec) { s.Abort, s.Resume = false, 1 })
	g.Expect(p.abortDuring(g, "back", earlier, v1alpha1.NodeTypeWorker)).To(BeNumerically("<", 5))

	p.begin(g, "forward", to)
	g.Expect(p.abortDuring(g, "forward", to, v1alpha1.NodeTypeControlPlane)).To(BeNumerically("<", 5))
	p.set(g, "forward", func(s *v1alpha1.KubernetesUpgradeSpec) { s.Abort, s.Resume = false, 1 })
	p.comesTo(g, "forward", v1alpha1.StateUpgradeComplete)
	p.whole(g, to)

	p.begin(g, "back-at-last", earlier)
	p.comesTo(g, "back-at-last", v1alpha1.StateUpgradeComplete)
	// Another manager looks at all that is left of the upgrades before, and leaves it alone.
	before, _, _ := p.seen()
	first.stop()
	startManager(t, false)
	g.Consistently(func() []string { order, _, _ := p.seen(); return order }, "5s", "200ms").Should(Equal(before))
	p.whole(g, earlier)
	_, violations, _ := p.seen()
	g.Expect(violations).To(BeEmpty())
}
