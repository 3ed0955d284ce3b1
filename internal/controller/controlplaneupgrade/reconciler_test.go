package controlplaneupgrade

import (
	"context"
	"errors"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/observe"
	"refit.dev/refit/internal/snapshot"
	"refit.dev/refit/internal/snapshot/fixture"
	"refit.dev/refit/internal/testcluster"
)

// A pause or an abort that the cache has not seen yet makes another KubernetesUpgrade of it than the one that was observed.
func TestAControlPlaneIsBegunOnlyForAnUpgradeAsItIsNow(t *testing.T) {
	scheme := runtime.NewScheme()
	NewWithT(t).Expect(v1alpha1.AddToScheme(scheme)).To(Succeed())
	at := func(version string) *v1alpha1.KubernetesUpgrade {
		return &v1alpha1.KubernetesUpgrade{ObjectMeta: metav1.ObjectMeta{Name: "up", ResourceVersion: version}}
	}
	of := func(upgrade string) *v1alpha1.ControlPlaneUpgrade {
		return &v1alpha1.ControlPlaneUpgrade{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{v1alpha1.LabelUpgrade: upgrade}}}
	}
	for what, tt := range map[string]struct {
		live     []client.Object
		observed []v1alpha1.KubernetesUpgrade
		u        *v1alpha1.ControlPlaneUpgrade
		current  bool
	}{
		"as it was observed":     {[]client.Object{at("7")}, []v1alpha1.KubernetesUpgrade{*at("7")}, of("up"), true},
		"changed since":          {[]client.Object{at("8")}, []v1alpha1.KubernetesUpgrade{*at("7")}, of("up"), false},
		"deleted since":          {nil, []v1alpha1.KubernetesUpgrade{*at("7")}, of("up"), false},
		"not observed yet":       {[]client.Object{at("7")}, nil, of("up"), false},
		"there is none":          {nil, nil, of("up"), true},
		"nobody's, made by hand": {nil, nil, &v1alpha1.ControlPlaneUpgrade{}, true},
	} {
		t.Run(what, func(t *testing.T) {
			r := &Reconciler{Live: fake.NewClientBuilder().WithScheme(scheme).WithObjects(tt.live...).Build()}
			current, err := r.current(t.Context(), &snapshot.Cluster{Upgrades: tt.observed}, tt.u)
			g := NewWithT(t)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(current).To(Equal(tt.current))
		})
	}
	away := interceptor.NewClient(fake.NewClientBuilder().WithScheme(scheme).Build(), interceptor.Funcs{
		Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
			return errors.New("the API server is away")
		}})
	_, err := (&Reconciler{Live: away}).current(t.Context(), &snapshot.Cluster{}, of("up"))
	NewWithT(t).Expect(err).To(MatchError(ContainSubstring("get KubernetesUpgrade up")))
}

// seen is a cluster as it is observed, and what it was told was written.
type seen struct {
	cluster *snapshot.Cluster
	told    []client.Object
}

func (s *seen) Cluster(context.Context, observe.Freshness) (*snapshot.Cluster, error) {
	return s.cluster, nil
}

func (s *seen) Wrote(objects ...client.Object) { s.told = append(s.told, objects...) }

func TestAControlPlaneUpgradeWhoseUpgradeHasEndedIsLeftAlone(t *testing.T) {
	for state, tt := range map[v1alpha1.UpgradeState]struct {
		after  time.Duration
		staged int
	}{
		v1alpha1.StateUpgradeAborted: {after: restFor}, v1alpha1.StateUpgradeComplete: {after: restFor},
		v1alpha1.StateUpgradingFirstMaster: {after: lookAgain, staged: 1},
	} {
		t.Run(string(state), func(t *testing.T) {
			g, c, u := NewWithT(t), fixture.Cluster(1, 0, "v1.35.4"), fixture.Upgrade("v1.36.3")
			u.Status.State, u.Status.Hop = state, "v1.36.3"
			cp := v1alpha1.ControlPlaneUpgrade{ObjectMeta: metav1.ObjectMeta{Namespace: v1alpha1.Namespace, Name: u.Name, Labels: map[string]string{v1alpha1.LabelUpgrade: u.Name}},
				Spec: v1alpha1.ControlPlaneUpgradeSpec{KubernetesVersion: "v1.36.3", MachinesRequireUpgrade: []corev1.ObjectReference{{Kind: "Node", Name: "cp-1"}}}}
			c.Upgrades, c.ControlPlaneUpgrades = []v1alpha1.KubernetesUpgrade{*u}, []v1alpha1.ControlPlaneUpgrade{cp}
			api := fake.NewClientBuilder().WithScheme(testcluster.Scheme()).WithObjects(&cp).WithStatusSubresource(&cp).Build()
			g.Expect(api.Get(t.Context(), types.NamespacedName{Namespace: cp.Namespace, Name: cp.Name}, &c.ControlPlaneUpgrades[0])).To(Succeed())
			observer := &seen{cluster: c}
			r := &Reconciler{Client: api, Live: api, Observer: observer, Clock: clocktesting.NewFakePassiveClock(fixture.Now), Recorder: events.NewFakeRecorder(9)}
			result, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: types.NamespacedName{Namespace: cp.Namespace, Name: cp.Name}})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(result.RequeueAfter).To(Equal(tt.after))

			var claims v1alpha1.NodeUpgradeList
			g.Expect(api.List(t.Context(), &claims)).To(Succeed())
			g.Expect(claims.Items).To(HaveLen(tt.staged))
			var written []client.Object
			for i := range claims.Items {
				written = append(written, &claims.Items[i])
			}
			g.Expect(observer.told).To(Equal(written), "the observer is told of what was written")
		})
	}
}
