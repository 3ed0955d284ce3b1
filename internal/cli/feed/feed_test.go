package feed

import (
	"context"
	"errors"
	"reflect"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	apiwatch "k8s.io/apimachinery/pkg/watch"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"refit.dev/refit/api/v1alpha1"
)

var errAway = errors.New("connection refused")

// cluster is one whose API server can be away.
type cluster struct {
	client.WithWatch
	away atomic.Bool
	// watches that were begun, by kind.
	watches sync.Map
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	g := NewWithT(t)
	scheme := runtime.NewScheme()
	g.Expect(clientgoscheme.AddToScheme(scheme)).To(Succeed())
	g.Expect(v1alpha1.AddToScheme(scheme)).To(Succeed())
	c := &cluster{}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "worker-1"}}
	c.WithWatch = fake.NewClientBuilder().WithScheme(scheme).WithObjects(node).WithInterceptorFuncs(interceptor.Funcs{
		Watch: func(ctx context.Context, w client.WithWatch, list client.ObjectList, options ...client.ListOption) (apiwatch.Interface, error) {
			if c.away.Load() {
				return nil, errAway
			}
			started, err := w.Watch(ctx, list, options...)
			if err == nil {
				c.watches.Store(reflect.TypeOf(list), started)
			}
			return started, err
		},
		List: func(ctx context.Context, w client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			if c.away.Load() {
				return errAway
			}
			return w.List(ctx, list, options...)
		},
	}).Build()
	return c
}

func TestAnAPIServerThatIsAwayAtTheStartIsAnErrorRightAway(t *testing.T) {
	c := newCluster(t)
	c.away.Store(true)
	_, err := Open(t.Context(), c, clock.RealClock{})
	NewWithT(t).Expect(err).To(MatchError(errAway))
}

func TestChangesAreTold(t *testing.T) {
	g := NewWithT(t)
	c := newCluster(t)
	f, err := Open(t.Context(), c, clock.RealClock{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(f.Seen().Nodes).To(HaveLen(1))
	g.Expect(f.Seen().Upgrade("up")).To(BeNil())

	up := &v1alpha1.KubernetesUpgrade{ObjectMeta: metav1.ObjectMeta{Name: "up"}}
	// The watch of the fake may begin after the creation: then the object shows with its next change.
	g.Expect(c.Create(t.Context(), up)).To(Succeed())
	g.Eventually(func() *v1alpha1.KubernetesUpgrade {
		up.Spec.Resume++
		g.Expect(c.Update(t.Context(), up)).To(Succeed())
		return f.Seen().Upgrade("up")
	}, 5*time.Second, 50*time.Millisecond).ShouldNot(BeNil())
	g.Eventually(f.Changed()).Should(Receive())

	g.Expect(c.Delete(t.Context(), up)).To(Succeed())
	g.Eventually(func() *v1alpha1.KubernetesUpgrade { return f.Seen().Upgrade("up") }, 5*time.Second).Should(BeNil())
}

func TestAnAPIServerThatGoesAwayAndComesBackIsNoticed(t *testing.T) {
	g := NewWithT(t)
	c := newCluster(t)
	f, err := Open(t.Context(), c, clock.RealClock{})
	g.Expect(err).NotTo(HaveOccurred())
	watching := func() int {
		n := 0
		c.watches.Range(func(any, any) bool { n++; return true })
		return n
	}
	g.Eventually(watching, 5*time.Second).Should(Equal(3))
	g.Expect(f.Seen().LostSince).To(BeZero())

	c.away.Store(true)
	c.watches.Range(func(_, w any) bool { w.(apiwatch.Interface).Stop(); return true })
	g.Eventually(func() string { return f.Seen().LostReason }, 5*time.Second).Should(ContainSubstring("connection refused"))
	g.Expect(f.Seen().Nodes).To(HaveLen(1), "what was known stays")

	c.away.Store(false)
	g.Eventually(func() bool { return f.Seen().LostSince.IsZero() }, 10*time.Second).Should(BeTrue())
}

func TestTheFirstLossCountsUntilAllIsReadAgain(t *testing.T) {
	g := NewWithT(t)
	l := losses{clock: clock.RealClock{}, of: map[string]loss{}}
	l.set("nodes", errAway)
	since, reason := l.longest()
	g.Expect(since).NotTo(BeZero())
	g.Expect(reason).To(Equal("connection refused"))
	l.set("upgrades", errors.New("also"))
	l.set("nodes", errAway)
	again, _ := l.longest()
	g.Expect(again).To(Equal(since))
	l.set("nodes", nil)
	_, reason = l.longest()
	g.Expect(reason).To(Equal("also"))
	l.set("upgrades", nil)
	since, _ = l.longest()
	g.Expect(since).To(BeZero())
}
