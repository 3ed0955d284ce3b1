package observe

import (
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/snapshot"
)

func TestANode(t *testing.T) {
	g := NewWithT(t)
	since := time.Date(2026, 11, 21, 3, 0, 0, 0, time.UTC)
	n := Node(&corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: "cp-0", UID: "u", Labels: map[string]string{LabelControlPlane: ""}, Annotations: map[string]string{v1alpha1.AnnotationCordonedBy: "nu"}},
		Spec: corev1.NodeSpec{Unschedulable: true, Taints: []corev1.Taint{{Key: "node.kubernetes.io/unschedulable", Effect: corev1.TaintEffectNoSchedule},
			{Key: "soft", Effect: corev1.TaintEffectPreferNoSchedule}}},
		Status: corev1.NodeStatus{NodeInfo: corev1.NodeSystemInfo{KubeletVersion: "v1.35.4", ContainerRuntimeVersion: "containerd://2.2.9"}, Conditions: []corev1.NodeCondition{
			{Type: corev1.NodeReady, Status: corev1.ConditionUnknown, Message: "Kubelet stopped posting node status.", LastTransitionTime: metav1.NewTime(since)},
			{Type: corev1.NodeDiskPressure, Status: corev1.ConditionTrue},
		}},
	})
	g.Expect(n).To(Equal(snapshot.Node{Name: "cp-0", UID: "u", ControlPlane: true, Labels: map[string]string{LabelControlPlane: ""}, ReadySince: since,
		NotReadyReason: "Kubelet stopped posting node status.", DiskPressure: true, Cordoned: true, CordonedBy: "nu", KubeletVersion: "v1.35.4", RuntimeVersion: "containerd://2.2.9"}))
	left := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{v1alpha1.AnnotationCordonedBy: "nu"}}}
	g.Expect(Node(left).CordonedBy).To(BeEmpty(), "a person has uncordoned it")
	g.Expect(Node(&corev1.Node{}).NotReadyReason).To(Equal("the node has never reported"))
	g.Expect(Node(&corev1.Node{Spec: corev1.NodeSpec{Taints: []corev1.Taint{{Key: LabelControlPlane, Effect: corev1.TaintEffectNoSchedule}}}}).Tainted).To(BeTrue())
}

func TestTheTagOfAnImage(t *testing.T) {
	for image, tag := range map[string]string{
		"registry.k8s.io/kube-apiserver:v1.35.4":                "v1.35.4",
		"registry.site:5000/kube-apiserver:v1.35.4":             "v1.35.4",
		"registry.site:5000/kube-apiserver":                     "",
		"registry.k8s.io/etcd:3.6.6-0@sha256:0123456789abcdef":  "3.6.6-0",
		"registry.site:5000/etcd@sha256:0123456789abcdef012345": "",
	} {
		t.Run(image, func(t *testing.T) {
			p := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Image: image}}}}
			NewWithT(t).Expect(imageTag(p)).To(Equal(tag))
		})
	}
}

func TestAComponentThatIsNotReadySaysWhy(t *testing.T) {
	g := NewWithT(t)
	c := component(&corev1.Pod{Status: corev1.PodStatus{
		Conditions:        []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse, Message: "containers with unready status: [etcd]"}},
		ContainerStatuses: []corev1.ContainerStatus{{State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff", Message: "back-off 40s"}}}},
	}})
	g.Expect(c).To(Equal(snapshot.Component{Found: true, Message: "CrashLoopBackOff: back-off 40s"}))
}

func TestDeprecatedAPIsAreFoundInMetrics(t *testing.T) {
	g := NewWithT(t)
	apis, err := parseDeprecated(strings.NewReader(`# HELP apiserver_requested_deprecated_apis [STABLE] Gauge of deprecated APIs that have been requested
# TYPE apiserver_requested_deprecated_apis gauge
apiserver_requested_deprecated_apis{group="flowcontrol.apiserver.k8s.io",removed_release="1.32",resource="flowschemas",subresource="",version="v1beta3"} 1
apiserver_requested_deprecated_apis{group="",removed_release="",resource="componentstatuses",subresource="status",version="v1"} 1
apiserver_requested_deprecated_apis{group="old",removed_release="1.30",resource="things",subresource="",version="v1"} 0
apiserver_request_total{code="200"} 7
`))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(apis).To(Equal([]snapshot.DeprecatedAPI{
		{Group: "flowcontrol.apiserver.k8s.io", Version: "v1beta3", Resource: "flowschemas", RemovedRelease: "1.32"},
		{Version: "v1", Resource: "componentstatuses", Subresource: "status"},
	}))
}

func TestWhichRequestsAWebhookIsCalledFor(t *testing.T) {
	rule := func(group, resource string, op admissionv1.OperationType) []admissionv1.RuleWithOperations {
		return []admissionv1.RuleWithOperations{{Operations: []admissionv1.OperationType{op},
			Rule: admissionv1.Rule{APIGroups: []string{group}, APIVersions: []string{"v1"}, Resources: []string{resource}}}}
	}
	for _, tt := range []struct {
		name  string
		rules []admissionv1.RuleWithOperations
		words []string
	}{
		{"pods", rule("", "pods", admissionv1.Create), []string{"create pods"}},
		{"evictions only", rule("", "pods/eviction", admissionv1.Create), []string{"evict pods"}},
		{"pods and what is below them", rule("", "pods/*", admissionv1.Create), []string{"create pods", "evict pods", "bind pods"}},
		{"every resource, no subresource", rule("*", "*", admissionv1.OperationAll), []string{"create pods", "delete pods", "update nodes", "update leases"}},
		{"nodes", rule("", "nodes", admissionv1.Update), []string{"update nodes"}},
		{"deployments", rule("apps", "deployments", admissionv1.Create), nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := NewWithT(t)
			w := webhook("ValidatingWebhookConfiguration/w", "w.site", ptr.To(admissionv1.Ignore), admissionv1.WebhookClientConfig{Service: &admissionv1.ServiceReference{Namespace: "ns", Name: "svc"}}, tt.rules)
			g.Expect(w.Matches).To(Equal(tt.words))
			g.Expect(w.FailClosed).To(BeFalse())
			g.Expect(w.Service).To(Equal("ns/svc"))
		})
	}
	NewWithT(t).Expect(webhook("", "", nil, admissionv1.WebhookClientConfig{}, nil).FailClosed).To(BeTrue(), "the default of failurePolicy is Fail")
}
