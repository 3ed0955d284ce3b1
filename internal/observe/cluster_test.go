package observe

import (
	"context"
	"errors"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"refit.dev/refit/internal/snapshot"
	"refit.dev/refit/internal/testcluster"
)

func TestAWholeCluster(t *testing.T) {
	g := NewWithT(t)
	cluster := testcluster.Start(t)
	c, ctx := cluster.Client, t.Context()
	for _, o := range []client.Object{
		&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "cp-0", Labels: map[string]string{LabelControlPlane: ""}}},
		&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "worker-0"}},
		&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: systemNamespace, Name: "kube-apiserver-cp-0", Labels: map[string]string{LabelComponent: "kube-apiserver", LabelTier: TierControlPlane}},
			Spec: corev1.PodSpec{NodeName: "cp-0", Containers: []corev1.Container{{Name: "c", Image: "registry.k8s.io/kube-apiserver:v1.35.4"}}}},
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: systemNamespace, Name: kubeadmConfig}, Data: map[string]string{"ClusterConfiguration": "kubernetesVersion: v1.35.4\n"}},
		&admissionv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "policy"}, Webhooks: []admissionv1.ValidatingWebhook{{
			Name: "policy.site.test", SideEffects: ptr.To(admissionv1.SideEffectClassNone), AdmissionReviewVersions: []string{"v1"},
			ClientConfig: admissionv1.WebhookClientConfig{Service: &admissionv1.ServiceReference{Namespace: "default", Name: "policy"}},
			Rules: []admissionv1.RuleWithOperations{{Operations: []admissionv1.OperationType{admissionv1.Delete},
				Rule: admissionv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"pods"}}}},
		}}},
		&discoveryv1.EndpointSlice{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "policy-1", Labels: map[string]string{discoveryv1.LabelServiceName: "policy"}}, AddressType: discoveryv1.AddressTypeIPv4,
			Endpoints: []discoveryv1.Endpoint{{Addresses: []string{"10.0.0.1"}}, {Addresses: []string{"10.0.0.2"}, Conditions: discoveryv1.EndpointConditions{Ready: ptr.To(false)}}}},
	} {
		g.Expect(c.Create(ctx, o)).To(Succeed())
		t.Cleanup(func() { _ = c.Delete(context.Background(), o, client.GracePeriodSeconds(0)) })
	}
	o := &Observer{Reader: c, Live: c, Config: cluster.Config, Clock: clock.RealClock{}}
	seen, err := o.Cluster(ctx, Fresh)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(seen.Nodes).To(HaveLen(2))
	g.Expect(seen.Node("cp-0").Components.APIServer).To(Equal(snapshot.Component{Found: true, Version: "v1.35.4"}))
	g.Expect(seen.Node("worker-0").Components).To(BeNil())
	g.Expect(seen.Kubeadm).To(Equal(snapshot.Kubeadm{Found: true, KubernetesVersion: "v1.35.4"}))
	g.Expect(seen.Webhooks).To(HaveLen(1))
	g.Expect(seen.Webhooks[0].Matches).To(Equal([]string{"delete pods"}))
	g.Expect(seen.Webhooks[0].ReadyEndpoints).To(Equal(1))
	g.Expect(seen.Certificates).NotTo(BeEmpty(), "the authority at least")
	g.Expect(seen.Unobserved).To(HaveLen(1))
	g.Expect(seen.Unobserved).To(HaveKey(snapshot.PartEtcd))
}

func TestWhatCannotBeReadIsAnErrorOrUnobserved(t *testing.T) {
	g := NewWithT(t)
	cluster := testcluster.Start(t)
	away := func(list client.ObjectList) client.WithWatch {
		return interceptor.NewClient(cluster.Client, interceptor.Funcs{List: func(ctx context.Context, c client.WithWatch, l client.ObjectList, opts ...client.ListOption) error {
			switch l.(type) {
			case *corev1.NodeList:
				if _, ok := list.(*corev1.NodeList); ok {
					return apierrors.NewServiceUnavailable("away")
				}
			case *corev1.PodList:
				if _, ok := list.(*corev1.PodList); ok {
					return apierrors.NewServiceUnavailable("away")
				}
			}
			return c.List(ctx, l, opts...)
		}})
	}
	_, err := (&Observer{Reader: away(&corev1.NodeList{}), Live: cluster.Client, Config: cluster.Config, Clock: clock.RealClock{}}).Nodes(t.Context())
	g.Expect(apierrors.IsServiceUnavailable(errors.Unwrap(err))).To(BeTrue())
	seen, err := (&Observer{Reader: away(&corev1.PodList{}), Live: cluster.Client, Config: cluster.Config, Clock: clock.RealClock{}}).Nodes(t.Context())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(seen.Unobserved).To(HaveKey(snapshot.PartControlPlanePods))
}

func TestAMemoReadsOnceInABurstAndFailuresMoreOften(t *testing.T) {
	g := NewWithT(t)
	now := clocktesting.NewFakePassiveClock(time.Now())
	var m memo[int]
	reads := 0
	var fails error
	get := func(age time.Duration) (int, error) {
		return m.get(t.Context(), now, age, func(context.Context) (int, error) { reads++; return reads, fails })
	}
	for range 3 {
		v, err := get(time.Minute)
		g.Expect(v, err).To(Equal(1))
	}
	v, err := get(0)
	g.Expect(v, err).To(Equal(2), "whoever wants it fresh gets it fresh")
	now.SetTime(now.Now().Add(time.Minute))
	fails = errors.New("away")
	_, err = get(time.Minute)
	g.Expect(err).To(MatchError("away"))
	now.SetTime(now.Now().Add(failedFor))
	fails = nil
	_, err = get(time.Minute)
	g.Expect(err).NotTo(HaveOccurred())
}
