package manager

import (
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/node/spec"
)

func TestAFailedWorkerIsReplacedByAnotherMachine(t *testing.T) {
	g := NewWithT(t)
	p := newPlay(t, 1, 3)
	broken := true
	p.fail = func(node string, step v1alpha1.StepName) spec.ExitCode {
		p.mu.Lock()
		defer p.mu.Unlock()
		if broken && node == "worker-1" && step == v1alpha1.StepKubelet {
			return spec.ExitRolledBack
		}
		return spec.ExitDone
	}
	startManager(t, false)
	go p.run(t.Context())
	p.begin(g, to, to)
	g.Expect(p.comesTo(g, to, v1alpha1.StateUpgradeFailed).Waiting).To(HavePrefix("worker-1 failed at step kubelet"))

	g.Expect(p.client.Delete(p.ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "worker-1"}})).To(Succeed())
	g.Eventually(func(g Gomega) {
		g.Expect(p.state(g).Waiting).To(Equal("nothing stops it any more: the nodes that did are back, gone, replaced or left out. `refit resume` goes on"))
	}, patience, "100ms").Should(Succeed())
	p.note(func() { broken = false })
	p.node(g, "worker-1", false)
	g.Consistently(func() v1alpha1.UpgradeState { return p.state(g).State }, "2s", "200ms").Should(Equal(v1alpha1.StateUpgradeFailed), "it goes on by a person's word")
	p.resume(g, 1)
	p.comesTo(g, to, v1alpha1.StateUpgradeComplete)
	var n corev1.Node
	g.Expect(p.client.Get(p.ctx, client.ObjectKey{Name: "worker-1"}, &n)).To(Succeed())
	g.Expect(n.Status.NodeInfo.KubeletVersion).To(Equal(to))
	_, violations, _ := p.seen()
	g.Expect(violations).To(BeEmpty())
}

func TestAWorkerThatIsDeletedWhileItIsUpgradedHoldsNothingUp(t *testing.T) {
	g := NewWithT(t)
	p := newPlay(t, 1, 2)
	p.fail = func(node string, step v1alpha1.StepName) spec.ExitCode {
		if node == "worker-0" && step == v1alpha1.StepKubelet { // the machine goes away just now
			_ = p.client.Delete(p.ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: node}})
			return spec.ExitFailed
		}
		return spec.ExitDone
	}
	startManager(t, false)
	go p.run(t.Context())
	p.begin(g, to, to)
	s := p.comesTo(g, to, v1alpha1.StateUpgradeComplete)
	g.Expect(s.Nodes).To(Equal(v1alpha1.NodeCounts{Total: 2, Upgraded: 2}))
	var nu v1alpha1.NodeUpgrade
	g.Expect(p.client.Get(p.ctx, client.ObjectKey{Namespace: v1alpha1.Namespace, Name: "worker-0-" + to}, &nu)).To(Succeed())
	g.Expect(nu.Status.Phase).To(Equal(v1alpha1.NodeFailed))
	_, violations, _ := p.seen()
	g.Expect(violations).To(BeEmpty())
}
