package manager

import (
	"fmt"
	"reflect"
	"testing"
	"time"
	"unsafe"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/observe"
)

func TestWhatIsDroppedOfANodeChangesNothingThatIsObserved(t *testing.T) {
	for what, conditions := range map[string][]corev1.NodeCondition{
		"well":          {{Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady", Message: "kubelet is posting ready status"}, {Type: corev1.NodeDiskPressure, Status: corev1.ConditionFalse}},
		"short of disk": {{Type: corev1.NodeDiskPressure, Status: corev1.ConditionTrue}, {Type: corev1.NodeReady, Status: corev1.ConditionTrue}},
		"silent":        {{Type: corev1.NodeReady, Status: corev1.ConditionUnknown, Message: "Kubelet stopped posting node status."}, {Type: corev1.NodeMemoryPressure, Status: corev1.ConditionUnknown}},
		"new":           nil,
	} {
		t.Run(what, func(t *testing.T) {
			g := NewWithT(t)
			n := &corev1.Node{
				ObjectMeta: metav1.ObjectMeta{Name: "w-1", UID: "uid", Labels: map[string]string{"kubernetes.io/hostname": "w-1", "zone": "a"},
					Annotations: map[string]string{v1alpha1.AnnotationCordonedBy: "nu", "other": "x"}},
				Spec: corev1.NodeSpec{Unschedulable: true, PodCIDR: "10.0.0.0/24", Taints: []corev1.Taint{{Key: "gpu", Effect: corev1.TaintEffectNoSchedule}}},
				Status: corev1.NodeStatus{Conditions: conditions, Images: []corev1.ContainerImage{{SizeBytes: 1}},
					NodeInfo: corev1.NodeSystemInfo{KubeletVersion: "v1.35.4", ContainerRuntimeVersion: "containerd://2.2.9"}},
			}
			before := observe.Node(n.DeepCopy())
			trimmed, err := trimNode(n)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(observe.Node(trimmed.(*corev1.Node))).To(Equal(before))
			g.Expect(n.Status.Images).To(BeEmpty())
			g.Expect(n.Annotations).To(HaveLen(1))
		})
	}
}

func TestWhatIsDroppedOfAControlPlanesPodsIsNotObserved(t *testing.T) {
	g := NewWithT(t)
	etcd := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: "etcd-cp-1", Labels: map[string]string{"component": "etcd", "tier": "control-plane"},
			Annotations: map[string]string{"kubeadm.kubernetes.io/etcd.advertise-client-urls": "https://10.0.0.1:2379"}},
		Spec:   corev1.PodSpec{NodeName: "cp-1", Containers: []corev1.Container{{Name: "etcd", Image: "registry.k8s.io/etcd:3.6.8-0", Command: []string{"etcd"}}}},
		Status: corev1.PodStatus{Phase: corev1.PodRunning, ContainerStatuses: []corev1.ContainerStatus{{Name: "etcd", ImageID: "x"}}},
	}
	want := etcd.DeepCopy()
	want.Spec.Containers[0].Command, want.Status.ContainerStatuses[0].ImageID = nil, ""
	want.Status.InitContainerStatuses = []corev1.ContainerStatus{}
	_, err := trimPod(etcd)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(etcd).To(Equal(want))
}

func TestAClaimThatIsNotCompletedIsKeptWhole(t *testing.T) {
	g := NewWithT(t)
	claim := func(node string) *v1alpha1.NodeUpgrade {
		return &v1alpha1.NodeUpgrade{
			ObjectMeta: metav1.ObjectMeta{Name: node + "-v1.36.3", Labels: map[string]string{v1alpha1.LabelNode: node, v1alpha1.LabelVersion: fmt.Sprint("v1.36.", 3)},
				OwnerReferences: []metav1.OwnerReference{{Kind: "KubernetesUpgrade", UID: "owner"}}},
			Spec: v1alpha1.NodeUpgradeSpec{Machine: corev1.ObjectReference{Kind: "Node", Name: node}, KubernetesVersion: "v1.36.3"},
			Status: v1alpha1.NodeUpgradeStatus{Steps: []v1alpha1.StepStatus{{Name: v1alpha1.StepDrain, State: v1alpha1.StepSucceeded, Message: "moved 3 pods away"}},
				Conditions: []metav1.Condition{{Type: v1alpha1.ConditionReady, Status: metav1.ConditionTrue, Reason: "Completed", Message: "node " + node}}},
		}
	}
	a, b := claim("w-1"), claim("w-2")
	noon := metav1.NewTime(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC))
	for _, c := range []*v1alpha1.NodeUpgrade{a, b} {
		c.Annotations = map[string]string{v1alpha1.AnnotationResume: "7"}
		c.Status.Steps = append(c.Status.Steps, v1alpha1.StepStatus{Name: v1alpha1.StepKubelet, StartedAt: noon.DeepCopy()})
		c.Status.Steps[0].FinishedAt, c.Spec.Machine.UID, c.Status.NodeUID = noon.DeepCopy(), "uid", "uid"
	}
	want := a.DeepCopy()
	for _, c := range []*v1alpha1.NodeUpgrade{a, b} {
		_, err := trimClaim(c)
		g.Expect(err).NotTo(HaveOccurred())
	}
	g.Expect(equality.Semantic.DeepEqual(a, want)).To(BeTrue())
	g.Expect(reflect.ValueOf(a.Annotations).Pointer()).To(Equal(reflect.ValueOf(b.Annotations).Pointer()))
	g.Expect(a.Status.Steps[1].StartedAt).To(BeIdenticalTo(a.Status.Steps[0].FinishedAt))
	b.Annotations = map[string]string{v1alpha1.AnnotationResume: "8"}
	_, err := trimClaim(b)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(a.Annotations).To(HaveKeyWithValue(v1alpha1.AnnotationResume, "7"))
	text := func(c *v1alpha1.NodeUpgrade) *byte { return unsafe.StringData(c.Labels[v1alpha1.LabelVersion]) }
	g.Expect(text(a)).To(BeIdenticalTo(text(b)), "what both have is kept once")
}

func TestOnlySoManyTextsAreShared(t *testing.T) {
	for i := range 2 * mostTexts {
		one(fmt.Sprint("text ", i))
	}
	NewWithT(t).Expect(len(texts.all)).To(Equal(mostTexts))
}
