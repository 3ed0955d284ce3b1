package manager

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"refit.dev/refit/api/managedupgrade/v1beta1"
	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/node/spec"
)

const windows = "maintenance"

func (p *play) window(g Gomega, name string, timeout time.Duration) *v1beta1.UpgradeJob {
	p.create(g, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: windows}})
	now := metav1.Now()
	j := &v1beta1.UpgradeJob{ObjectMeta: metav1.ObjectMeta{Namespace: windows, Name: name}, Spec: v1beta1.UpgradeJobSpec{
		StartAfter: now, StartBefore: metav1.NewTime(now.Add(time.Hour)), DesiredVersion: &configv1.Update{Version: to, Image: image},
		Config: v1beta1.UpgradeJobConfig{UpgradeTimeout: &metav1.Duration{Duration: timeout},
			KubernetesUpgrade: &v1beta1.KubernetesUpgradeOptions{ExcludedGates: []string{"etcd", "certificates"}}}}}
	g.Expect(p.client.Create(p.ctx, j)).To(Succeed())
	return j
}

func (p *play) ended(g *WithT, j *v1beta1.UpgradeJob) *metav1.Condition {
	var now v1beta1.UpgradeJob
	g.Eventually(func(g Gomega) {
		g.Expect(p.client.Get(p.ctx, client.ObjectKeyFromObject(j), &now)).To(Succeed())
		g.Expect(now.Outcome()).NotTo(BeNil(), "%s: %+v", now.Status.Waiting, now.Status.Conditions)
		g.Expect(now.Finalizers).To(BeEmpty())
	}, patience, "200ms").Should(Succeed())
	return now.Outcome()
}

func (p *play) theUpgrade(g Gomega) v1alpha1.KubernetesUpgrade {
	var list v1alpha1.KubernetesUpgradeList
	g.Expect(p.client.List(p.ctx, &list)).To(Succeed())
	g.Expect(list.Items).To(HaveLen(1))
	return list.Items[0]
}

// A window that is too short for all nodes begins no further one when it is over; the next goes on where it stopped.
func TestAWindowThatIsTooShortIsGoneOnWithInTheNext(t *testing.T) {
	g := NewWithT(t)
	p := newPlay(t, 1, 4)
	startManager(t, false)
	go p.run(t.Context())
	// A busy machine may begin nothing in so short a window; it gets a longer one.
	for length := 4 * time.Second; ; length *= 2 {
		first := p.window(g, "first", length)
		g.Expect(p.ended(g, first).Reason).To(Equal(v1beta1.ReasonTimedOut))
		var begun v1alpha1.KubernetesUpgradeList
		g.Expect(p.client.List(p.ctx, &begun)).To(Succeed())
		if len(begun.Items) > 0 || length > time.Minute {
			break
		}
		g.Expect(p.client.Delete(p.ctx, first)).To(Succeed())
		g.Eventually(func() bool {
			return apierrors.IsNotFound(p.client.Get(p.ctx, client.ObjectKeyFromObject(first), &v1beta1.UpgradeJob{}))
		}, patience, "200ms").Should(BeTrue())
	}
	u := p.theUpgrade(g)
	g.Expect(u.Spec.Paused).To(BeTrue(), "nothing starts outside the window")
	g.Expect(u.Annotations).To(HaveKeyWithValue(v1beta1.AnnotationLock, windows+"/first"))
	g.Expect(u.Finished()).To(BeFalse(), "it was too quick for the test")

	second := p.window(g, "second", time.Hour)
	end := p.ended(g, second)
	g.Expect(end.Reason).To(Equal(v1beta1.ReasonSucceeded), end.Message)
	u = p.theUpgrade(g)
	g.Expect(u.Status.State).To(Equal(v1alpha1.StateUpgradeComplete))
	g.Expect(u.Annotations).To(HaveKeyWithValue(v1beta1.AnnotationLock, windows+"/second"))
	_, violations, created := p.seen()
	g.Expect(violations).To(BeEmpty())
	for name, times := range created {
		g.Expect(times).To(Equal(1), name)
	}

	third := p.window(g, "third", time.Hour)
	g.Expect(p.ended(g, third).Reason).To(Equal(v1beta1.ReasonSucceeded), "the version runs already")
	p.theUpgrade(g)
}

func TestAWindowLeavesAPersonsUpgradeAlone(t *testing.T) {
	g := NewWithT(t)
	p := newPlay(t, 1, 1)
	startManager(t, false)
	persons := upgrade()
	persons.Spec.Paused = true
	g.Expect(p.client.Create(p.ctx, persons)).To(Succeed())
	j := p.window(g, "job", 6*time.Second)
	end := p.ended(g, j)
	g.Expect(end.Reason).To(Equal(v1beta1.ReasonTimedOut))
	g.Expect(end.Message).To(ContainSubstring(to))
	u := p.theUpgrade(g)
	g.Expect(u.Annotations).NotTo(HaveKey(v1beta1.AnnotationLock))
}

func TestTheNextWindowGoesOnWithAnUpgradeThatFailed(t *testing.T) {
	g := NewWithT(t)
	p := newPlay(t, 1, 2)
	broken := true
	p.fail = func(node string, step v1alpha1.StepName) spec.ExitCode {
		p.mu.Lock()
		defer p.mu.Unlock()
		if broken && node == "worker-0" && step == v1alpha1.StepKubelet {
			return spec.ExitRolledBack
		}
		return spec.ExitDone
	}
	startManager(t, false)
	go p.run(t.Context())
	end := p.ended(g, p.window(g, "fails", time.Hour))
	g.Expect(end.Reason).To(Equal(v1beta1.ReasonUpgradeFailed))
	g.Expect(end.Message).To(ContainSubstring("worker-0"))
	p.note(func() { broken = false })
	end = p.ended(g, p.window(g, "goes-on", time.Hour))
	g.Expect(end.Reason).To(Equal(v1beta1.ReasonSucceeded), end.Message)
	g.Expect(p.theUpgrade(g).Status.State).To(Equal(v1alpha1.StateUpgradeComplete))
}

func TestAnUpgradeThatAPersonDeletesIsNotMadeAgain(t *testing.T) {
	g := NewWithT(t)
	p := newPlay(t, 1, 2)
	startManager(t, false)
	j := p.window(g, "deleted", time.Hour)
	var list v1alpha1.KubernetesUpgradeList
	g.Eventually(func() []v1alpha1.KubernetesUpgrade {
		g.Expect(p.client.List(p.ctx, &list)).To(Succeed())
		return list.Items
	}, patience, "100ms").Should(HaveLen(1))
	g.Eventually(func() map[string]string {
		var now v1beta1.UpgradeJob
		g.Expect(p.client.Get(p.ctx, client.ObjectKeyFromObject(j), &now)).To(Succeed())
		return now.Annotations
	}, patience, "100ms").Should(HaveKey("managedupgrade.appuio.io/kubernetesupgrade"))
	g.Expect(p.client.Delete(p.ctx, &list.Items[0])).To(Succeed())
	end := p.ended(g, j)
	g.Expect(end.Reason).To(Equal(v1beta1.ReasonUpgradeFailed), end.Message)
	g.Expect(end.Message).To(ContainSubstring("deleted"))
	g.Expect(p.client.List(p.ctx, &list)).To(Succeed())
	g.Expect(list.Items).To(BeEmpty())
}
