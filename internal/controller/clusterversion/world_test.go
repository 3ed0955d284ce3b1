package clusterversion

import (
	"context"
	"os"
	"slices"
	"testing"

	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"refit.dev/refit/api/managedupgrade/v1beta1"
	"refit.dev/refit/internal/openshift/crd"
	"refit.dev/refit/internal/target/openshift"
	"refit.dev/refit/internal/testcluster"
)

func TestMain(m *testing.M) { os.Exit(testcluster.Main(m)) }

// world is an API server with OpenShift's kinds, and a controller that a test drives.
type world struct {
	*WithT
	t        *testing.T
	c        client.WithWatch
	r        *Reconciler
	clock    *clocktesting.FakePassiveClock
	recorder *events.FakeRecorder
}

func newWorld(t *testing.T) *world {
	t.Helper()
	g, cluster := NewWithT(t), testcluster.Start(t)
	g.Expect(crd.Install(t.Context(), cluster.Config)).To(Succeed())
	scheme := testcluster.Scheme()
	g.Expect(openshift.AddToScheme(scheme)).To(Succeed())
	c, err := client.NewWithWatch(cluster.Config, client.Options{Scheme: scheme})
	g.Expect(err).NotTo(HaveOccurred())
	w := &world{WithT: g, t: t, c: c, clock: clocktesting.NewFakePassiveClock(noon), recorder: events.NewFakeRecorder(100)}
	w.r = &Reconciler{Client: c, Recorder: w.recorder, Clock: w.clock, openShift: true}
	return w
}

// upstream makes OpenShift's ClusterVersion, which wants a version already.
func (w *world) upstream() *configv1.ClusterVersion {
	w.t.Helper()
	return w.create(&configv1.ClusterVersion{ObjectMeta: metav1.ObjectMeta{Name: "version"}, Spec: configv1.ClusterVersionSpec{
		ClusterID: "bc75be34-e92d-4745-bb9d-8ec39e877854", Channel: "candidate-4.15", Upstream: "https://old", DesiredUpdate: &configv1.Update{Version: "4.15.2"}}}).(*configv1.ClusterVersion)
}

func (w *world) ours(name string, spec v1beta1.ClusterVersionSpec) *v1beta1.ClusterVersion {
	w.t.Helper()
	return w.create(&v1beta1.ClusterVersion{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}, Spec: spec}).(*v1beta1.ClusterVersion)
}

// create makes an object, and removes it when the test ends.
func (w *world) create(o client.Object) client.Object {
	w.t.Helper()
	w.Expect(w.c.Create(w.t.Context(), o)).To(Succeed())
	w.t.Cleanup(func() { w.Expect(client.IgnoreNotFound(w.c.Delete(context.Background(), o))).To(Succeed()) })
	return o
}

func (w *world) reconcile() ctrl.Result {
	w.t.Helper()
	result, err := w.r.Reconcile(w.t.Context(), everything)
	w.Expect(err).NotTo(HaveOccurred())
	return result
}

// seen is OpenShift's spec as it is now.
func (w *world) seen() configv1.ClusterVersionSpec {
	w.t.Helper()
	var cv configv1.ClusterVersion
	w.Expect(w.c.Get(w.t.Context(), client.ObjectKey{Name: "version"}, &cv)).To(Succeed())
	return cv.Spec
}

// status reads an object of ours, checks what is true of every status, and gives it with its Synced condition.
func (w *world) status(name string) (v1beta1.ClusterVersionStatus, *metav1.Condition) {
	w.t.Helper()
	var o v1beta1.ClusterVersion
	w.Expect(w.c.Get(w.t.Context(), client.ObjectKey{Namespace: "default", Name: name}, &o)).To(Succeed())
	w.Expect(o.Status.Current.DesiredUpdate).To(BeNil())
	w.Expect(slices.IsSortedFunc(o.Status.Overlays, func(a, b v1beta1.OverlayPreview) int { return a.From.Compare(b.From.Time) })).To(BeTrue())
	for _, p := range o.Status.Overlays {
		w.Expect(p.From.Time).To(BeTemporally(">", w.clock.Now()))
	}
	c := meta.FindStatusCondition(o.Status.Conditions, v1beta1.ConditionSynced)
	w.Expect(c).NotTo(BeNil())
	w.Expect(c.Status == metav1.ConditionTrue).To(Equal(c.Reason == v1beta1.ReasonSynced))
	w.Expect(c.ObservedGeneration).To(Equal(o.Generation))
	w.Expect(c.Message).NotTo(BeEmpty())
	return o.Status, c
}

// told are the events since the last look.
func (w *world) told() []string {
	var out []string
	for {
		select {
		case e := <-w.recorder.Events:
			out = append(out, e)
		default:
			return out
		}
	}
}
