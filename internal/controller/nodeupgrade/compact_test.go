package nodeupgrade

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/node/spec"
)

func TestWhatContainersCameToIsTheSamePacked(t *testing.T) {
	g := NewWithT(t)
	began := metav1.NewTime(time.Date(2026, 11, 21, 3, 0, 0, 0, time.UTC))
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "worker-0-node-upgrader", CreationTimestamp: began}, Status: corev1.PodStatus{Phase: corev1.PodSucceeded}}
	for i, step := range spec.Steps(v1alpha1.NodeTypeWorker) {
		pod.Status.InitContainerStatuses = append(pod.Status.InitContainerStatuses, corev1.ContainerStatus{Name: string(step), Image: image,
			State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Message: "moved 3 pods away", StartedAt: began,
				FinishedAt: metav1.NewTime(began.Add(time.Duration(i) * time.Second))}}})
	}
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: spec.ReportContainer, State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{FinishedAt: began}}}}
	packed := pod.DeepCopy()
	CompactPod(packed)
	g.Expect(packed.Status.InitContainerStatuses).To(BeEmpty())

	order := spec.Steps(v1alpha1.NodeTypeWorker)
	g.Expect(equality.Semantic.DeepEqual(follow(packed, order, nil), follow(pod, order, nil))).To(BeTrue())
	want := judge(pod, began.Add(time.Hour), DefaultLimits(), time.Hour)
	got := judge(packed, began.Add(time.Hour), DefaultLimits(), time.Hour)
	g.Expect(got.ended).To(BeTemporally("==", want.ended))
	g.Expect(got.outcome).To(Equal(outSucceeded))

	again := packed.DeepCopy()
	CompactPod(again)
	g.Expect(containers(again)).To(HaveLen(len(order)+1), "a cache may be given what it has already")
}

func TestOnlyAPodThatSucceededIsPacked(t *testing.T) {
	g := NewWithT(t)
	for _, phase := range []corev1.PodPhase{corev1.PodPending, corev1.PodRunning, corev1.PodFailed} {
		pod := &corev1.Pod{Status: corev1.PodStatus{Phase: phase, Message: "m", InitContainerStatuses: []corev1.ContainerStatus{{Name: "drain"}}}}
		want := pod.DeepCopy()
		CompactPod(pod)
		g.Expect(pod).To(Equal(want), string(phase))
	}
}

func TestACompletedClaimIsWrittenBackWhole(t *testing.T) {
	w := newWorld(t, node("worker-0", false), node("worker-1", false))
	w.upgrade(worker("worker-0"))
	r := w.manager()
	w.toTheEnd(r)
	before := w.get()
	w.Expect(before.Status.Steps[0].Message).NotTo(BeEmpty())
	w.Expect(len(before.Status.Conditions)).To(BeNumerically(">", 1))

	before.Spec.Abort = true // it comes too late to do anything
	w.Expect(w.client.Update(w.ctx, before)).To(Succeed())
	w.Expect(w.settle(r)).To(Succeed())
	after := w.get()
	w.Expect(after.Status.ObservedGeneration).To(Equal(after.Generation), "the status was written")
	w.Expect(after.Status.Steps).To(Equal(before.Status.Steps))
	w.Expect(after.Status.Conditions).To(Equal(before.Status.Conditions))
}
