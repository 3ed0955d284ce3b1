package manager

import (
	"context"
	"slices"
	"testing"

	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"refit.dev/refit/api/v1alpha1"
)

const manifests = `
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: net, namespace: kube-system}
spec:
  selector: {matchLabels: {app: net}}
  template:
    metadata: {labels: {app: net}}
    spec: {containers: [{name: net, image: net}]}
---
apiVersion: batch/v1
kind: Job
metadata: {name: net-migrate, namespace: kube-system}
spec:
  template:
    spec: {restartPolicy: Never, containers: [{name: net, image: net}]}
`

// networking names manifests in the target version.
func (p *play) networking(t *testing.T, g Gomega) {
	config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: v1alpha1.Namespace, Name: "net"}, Data: map[string]string{"1.yaml": manifests}}
	p.create(g, config)
	var v v1alpha1.KubernetesVersion
	g.Expect(p.client.Get(p.ctx, client.ObjectKey{Name: to}, &v)).To(Succeed())
	v.Spec.Networking = &v1alpha1.Networking{ConfigMap: v1alpha1.ConfigMapReference{Name: "net"}}
	g.Expect(p.client.Update(p.ctx, &v)).To(Succeed())
	t.Cleanup(func() {
		for _, o := range []client.Object{config, &appsv1.DaemonSet{ObjectMeta: inSystem("net")}, &batchv1.Job{ObjectMeta: inSystem("net-migrate")}} {
			_ = p.client.Delete(context.Background(), o, client.PropagationPolicy(metav1.DeletePropagationBackground))
		}
	})
}

func inSystem(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: name}
}

// jobEnds has the Job of the networking step end, one way or the other.
func (p *play) jobEnds(g Gomega, kind batchv1.JobConditionType, reason string) {
	g.Eventually(func(g Gomega) {
		var j batchv1.Job
		g.Expect(p.client.Get(p.ctx, client.ObjectKey{Namespace: metav1.NamespaceSystem, Name: "net-migrate"}, &j)).To(Succeed())
		now := metav1.Now()
		j.Status.StartTime = &now
		before := map[batchv1.JobConditionType]batchv1.JobConditionType{batchv1.JobComplete: batchv1.JobSuccessCriteriaMet, batchv1.JobFailed: batchv1.JobFailureTarget}[kind]
		j.Status.Conditions = []batchv1.JobCondition{{Type: before, Status: corev1.ConditionTrue}, {Type: kind, Status: corev1.ConditionTrue, Message: reason}}
		if kind == batchv1.JobComplete {
			j.Status.CompletionTime = &now
		}
		g.Expect(p.client.Status().Update(p.ctx, &j)).To(Succeed())
	}, patience, "100ms").Should(Succeed())
}

func TestTheNetworkingStepComesAfterTheFirstControlPlaneAndIsWaitedFor(t *testing.T) {
	g := NewWithT(t)
	p := newPlay(t, 2, 1)
	p.networking(t, g)
	startManager(t, false)
	go p.run(t.Context())
	g.Expect(p.client.Create(p.ctx, upgrade())).To(Succeed())

	p.jobEnds(g, batchv1.JobFailed, "the pool has no room")
	g.Eventually(func(g Gomega) {
		s := p.state(g)
		g.Expect(s.State).To(Equal(v1alpha1.StateUpgradeFailed), "%+v", s)
		g.Expect(s.Waiting).To(ContainSubstring("the pool has no room"))
	}, patience, "100ms").Should(Succeed())
	order, _, _ := p.seen()
	g.Expect(order).To(HaveLen(1), "the second control plane waits for the networking step")

	p.resume(g, 1)
	p.jobEnds(g, batchv1.JobComplete, "")
	g.Consistently(func() v1alpha1.UpgradeState { return p.state(g).State }, "2s", "200ms").ShouldNot(Equal(v1alpha1.StateUpgradedNetworking), "the DaemonSet is not up yet")
	var d appsv1.DaemonSet
	g.Expect(p.client.Get(p.ctx, client.ObjectKey{Namespace: metav1.NamespaceSystem, Name: "net"}, &d)).To(Succeed())
	d.Status.ObservedGeneration = d.Generation
	g.Expect(p.client.Status().Update(p.ctx, &d)).To(Succeed())
	g.Eventually(func(g Gomega) {
		s := p.state(g)
		g.Expect(s.State).To(Equal(v1alpha1.StateUpgradeComplete), "%+v", s)
		g.Expect(s.NetworkedVersion).To(Equal(to))
	}, patience, "100ms").Should(Succeed())
	_, violations, _ := p.seen()
	g.Expect(violations).To(BeEmpty())
}

func (p *play) resume(g Gomega, n int64) {
	p.patch(g, func(s *v1alpha1.KubernetesUpgradeSpec) { s.Resume = n })
}

func (p *play) patch(g Gomega, set func(*v1alpha1.KubernetesUpgradeSpec)) {
	var u v1alpha1.KubernetesUpgrade
	g.Expect(p.client.Get(p.ctx, client.ObjectKey{Name: to}, &u)).To(Succeed())
	patch := client.MergeFrom(u.DeepCopy())
	set(&u.Spec)
	g.Expect(p.client.Patch(p.ctx, &u, patch)).To(Succeed())
}

func TestAManualUpgradeTakesTheStepsThatAreAskedFor(t *testing.T) {
	g := NewWithT(t)
	p := newPlay(t, 2, 1)
	startManager(t, false)
	go p.run(t.Context())
	u := upgrade()
	u.Spec.Mode = v1alpha1.ModeManual
	g.Expect(p.client.Create(p.ctx, u)).To(Succeed())

	for _, step := range []struct {
		state   v1alpha1.UpgradeState
		request v1alpha1.StepRequest
		done    []string
	}{
		{v1alpha1.StateUpgradeStarted, v1alpha1.StepRequest{Step: v1alpha1.RequestControlPlane, Node: "cp-1"}, []string{"cp-1"}},
		{v1alpha1.StateUpgradedFirstMaster, v1alpha1.StepRequest{Step: v1alpha1.RequestNetworking}, []string{"cp-1"}},
		{v1alpha1.StateUpgradedNetworking, v1alpha1.StepRequest{Step: v1alpha1.RequestControlPlane, Node: "cp-0"}, []string{"cp-1", "cp-0"}},
		{v1alpha1.StateUpgradedSecondMaster, v1alpha1.StepRequest{Step: v1alpha1.RequestKubelet, Node: "worker-0"}, []string{"cp-1", "cp-0", "worker-0"}},
	} {
		g.Eventually(func(g Gomega) {
			s := p.state(g)
			g.Expect(s.State).To(Equal(step.state), "%+v", s)
			g.Expect(s.Waiting).To(HavePrefix("Manual: "))
		}, patience, "100ms").Should(Succeed())
		p.patch(g, func(s *v1alpha1.KubernetesUpgradeSpec) { s.Requests = append(s.Requests, step.request) })
		g.Eventually(func() bool { order, _, _ := p.seen(); return slices.Equal(order, step.done) }, patience, "100ms").Should(BeTrue())
	}
	g.Eventually(func(g Gomega) { g.Expect(p.state(g).State).To(Equal(v1alpha1.StateUpgradeComplete)) }, patience, "100ms").Should(Succeed())
}
