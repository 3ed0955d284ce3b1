package kubernetesupgrade

import (
	"context"
	"errors"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/rollout"
	"refit.dev/refit/internal/snapshot"
	"refit.dev/refit/internal/snapshot/fixture"
)

const networkManifest = `apiVersion: v1
kind: ConfigMap
metadata: {name: net-conf, namespace: kube-system}
data: {mtu: "1400"}
`

// networkingStep is a networking step whose API server answers an apply or a look at what was applied with an error, while one is set.
type networkingStep struct {
	*Reconciler
	clock           *clocktesting.FakePassiveClock
	seen            *snapshot.Cluster
	applying, apply error
	look            error
}

var conf = client.ObjectKey{Namespace: metav1.NamespaceSystem, Name: "net-conf"}

func newNetworkingStep(t *testing.T, there ...client.Object) *networkingStep {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	s := &networkingStep{clock: clocktesting.NewFakePassiveClock(fixture.Now), seen: fixture.Cluster(1, 0, "v1.35.4")}
	s.seen.Version("v1.36.3").Spec.Networking = &v1alpha1.Networking{ConfigMap: v1alpha1.ConfigMapReference{Name: "network"}}
	manifests := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: v1alpha1.Namespace, Name: "network"}, Data: map[string]string{"all.yaml": networkManifest}}
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(append(there, fixture.Upgrade("v1.36.3"), manifests)...).
		WithInterceptorFuncs(interceptor.Funcs{
			Apply: func(ctx context.Context, c client.WithWatch, o runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
				if s.apply != nil {
					return s.apply
				}
				return c.Apply(ctx, o, opts...)
			},
			Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
				if key == conf && s.look != nil {
					return s.look
				}
				return c.Get(ctx, key, o, opts...)
			},
		}).Build()
	s.Reconciler = &Reconciler{Client: c, Clock: s.clock}
	return s
}

// after lets time pass, looks at the step, and goes on with it where it has not ended.
func (s *networkingStep) after(t *testing.T, d time.Duration, resume int64) rollout.Networking {
	t.Helper()
	s.clock.SetTime(s.clock.Now().Add(d))
	var u v1alpha1.KubernetesUpgrade
	if err := s.Client.Get(t.Context(), client.ObjectKey{Name: "upgrade"}, &u); err != nil {
		t.Fatal(err)
	}
	record, err := recordOf(&u)
	if err != nil {
		t.Fatal(err)
	}
	at := &turn{seen: s.seen, upgrade: &u, networking: record}
	n := s.networkingProgress(t.Context(), at)
	if n.Resume >= resume && (n.Done || n.Failed != "") {
		return n
	}
	s.applying = s.runNetworking(t.Context(), at, rollout.Action{Kind: rollout.RunNetworking, Version: "v1.36.3", Resume: resume})
	return n
}

func TestTheNetworkingStep(t *testing.T) {
	resource := schema.GroupResource{Resource: "configmaps"}
	forbidden := apierrors.NewForbidden(resource, "net-conf", errors.New(`User "refit-manager" cannot patch resource`))

	t.Run("is done when its manifests are applied", func(t *testing.T) {
		g, s := NewWithT(t), newNetworkingStep(t)
		s.after(t, 0, 0)
		g.Expect(s.applying).NotTo(HaveOccurred())
		g.Expect(s.after(t, time.Second, 0).Done).To(BeTrue())
		var applied corev1.ConfigMap
		g.Expect(s.Client.Get(t.Context(), conf, &applied)).To(Succeed())
		g.Expect(applied.Data).To(HaveKeyWithValue("mtu", "1400"))
	})
	for _, tt := range []struct {
		name        string
		apply, look error
		want        []string
	}{
		{name: "a right to apply is missing", apply: forbidden,
			want: []string{"apply ConfigMap kube-system/net-conf", "cannot patch resource", "ServiceAccount refit-manager of refit-system", "take it out of ConfigMap refit-system/network"}},
		{name: "a right to look is missing", look: forbidden, want: []string{"look at ConfigMap kube-system/net-conf", "ServiceAccount refit-manager"}},
		{name: "a manifest is invalid", apply: apierrors.NewInvalid(schema.GroupKind{Kind: "ConfigMap"}, "net-conf", nil), want: []string{"is invalid", "Correct it in ConfigMap refit-system/network"}},
		{name: "a namespace is missing", apply: apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, "calico"), want: []string{`namespaces "calico" not found`}},
		{name: "a kind is not served", apply: &meta.NoKindMatchError{GroupKind: schema.GroupKind{Kind: "IPPool"}}, want: []string{"IPPool", "install what it needs"}},
	} {
		t.Run("fails once it is certain that "+tt.name, func(t *testing.T) {
			g, s := NewWithT(t), newNetworkingStep(t)
			s.apply, s.look = tt.apply, tt.look
			for range 12 { // a minute
				n := s.after(t, 5*time.Second, 0)
				g.Expect(n.Done || n.Failed != "").To(BeFalse(), "%+v", n)
				g.Expect(s.applying).NotTo(HaveOccurred())
			}
			n := s.after(t, time.Minute, 0)
			g.Expect(n.Done).To(BeFalse())
			for _, want := range tt.want {
				g.Expect(n.Failed).To(ContainSubstring(want))
			}
			// A resume begins anew, and may now.
			s.apply, s.look = nil, nil
			s.after(t, time.Hour, 1)
			g.Expect(s.after(t, time.Second, 1)).To(Equal(rollout.Networking{Version: "v1.36.3", Resume: 1, Done: true}))
		})
	}
	t.Run("goes on when an API server that has just started does not know the right yet", func(t *testing.T) {
		g, s := NewWithT(t), newNetworkingStep(t)
		s.apply = forbidden
		s.after(t, 0, 0)
		s.after(t, 30*time.Second, 0)
		s.apply = nil
		s.after(t, 10*time.Second, 0)
		g.Expect(s.after(t, time.Hour, 0)).To(Equal(rollout.Networking{Version: "v1.36.3", Done: true}))
	})
	t.Run("is not done by what was there before", func(t *testing.T) {
		g, s := NewWithT(t), newNetworkingStep(t, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: conf.Namespace, Name: conf.Name}})
		s.apply = errors.New("connection refused")
		s.after(t, 0, 0)
		g.Expect(s.applying).To(MatchError(ContainSubstring("connection refused")))
		g.Expect(s.after(t, time.Second, 0)).To(Equal(rollout.Networking{Version: "v1.36.3"}))
		s.apply = nil
		s.after(t, time.Second, 0)
		g.Expect(s.after(t, time.Second, 0).Done).To(BeTrue())
	})
	t.Run("says at its end what the API server answered", func(t *testing.T) {
		g, s := NewWithT(t), newNetworkingStep(t)
		s.apply = apierrors.NewInternalError(errors.New("field not declared in schema"))
		s.after(t, 0, 0)
		g.Expect(s.after(t, 5*time.Minute, 0).Failed).To(BeEmpty())
		g.Expect(s.after(t, 6*time.Minute, 0).Failed).To(And(ContainSubstring("not done within 10m: apply ConfigMap"), ContainSubstring("field not declared in schema")))
	})
	t.Run("says that its ConfigMap is missing", func(t *testing.T) {
		g, s := NewWithT(t), newNetworkingStep(t)
		s.seen.Version("v1.36.3").Spec.Networking.ConfigMap.Name = "other"
		s.after(t, 0, 0)
		g.Expect(s.after(t, time.Second, 0).Failed).To(ContainSubstring("ConfigMap refit-system/other"))
	})
}
