package suspensionwindow

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/event"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"refit.dev/refit/api/managedupgrade/v1beta1"
	"refit.dev/refit/internal/testcluster"
)

func TestMain(m *testing.M) { os.Exit(testcluster.Main(m)) }

// world is an API server, and a controller that a test drives.
type world struct {
	*WithT
	t        *testing.T
	c        client.WithWatch
	r        *Reconciler
	clock    *clocktesting.FakePassiveClock
	recorder *events.FakeRecorder
}

// newWorld has a clock that begins at the real time, since it is the API server that dates what is made.
func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{WithT: NewWithT(t), t: t, c: testcluster.Start(t).Client, clock: clocktesting.NewFakePassiveClock(time.Now()), recorder: events.NewFakeRecorder(100)}
	w.r = &Reconciler{Client: w.c, Recorder: w.recorder, Clock: w.clock}
	return w
}

func (w *world) create(o client.Object, name string, labels map[string]string) {
	w.t.Helper()
	o.SetNamespace("default")
	o.SetName(name)
	o.SetLabels(labels)
	w.Expect(w.c.Create(w.t.Context(), o)).To(Succeed())
	w.t.Cleanup(func() { w.Expect(client.IgnoreNotFound(w.c.Delete(context.Background(), o))).To(Succeed()) })
}

func (w *world) config(name string, labels map[string]string) {
	w.t.Helper()
	w.create(&v1beta1.UpgradeConfig{Spec: v1beta1.UpgradeConfigSpec{Schedule: v1beta1.UpgradeConfigSchedule{Cron: "0 22 * * 2"}}}, name, labels)
}

func (w *world) job(name string, labels map[string]string) *v1beta1.UpgradeJob {
	w.t.Helper()
	j := &v1beta1.UpgradeJob{Spec: v1beta1.UpgradeJobSpec{StartAfter: metav1.NewTime(noon), StartBefore: metav1.NewTime(noon.Add(time.Hour))}}
	w.create(j, name, labels)
	return j
}

func (w *world) finish(j *v1beta1.UpgradeJob) {
	w.t.Helper()
	j.Status.Conditions = []metav1.Condition{{Type: v1beta1.ConditionSucceeded, Status: metav1.ConditionTrue, Reason: v1beta1.ReasonSkipped, LastTransitionTime: metav1.Now()}}
	w.Expect(w.c.Status().Update(w.t.Context(), j)).To(Succeed())
}

// suspend makes a window from one hour ahead to two.
func (w *world) suspend(configs, jobs *metav1.LabelSelector) *v1beta1.UpgradeSuspensionWindow {
	w.t.Helper()
	now := w.clock.Now()
	s := &v1beta1.UpgradeSuspensionWindow{Spec: v1beta1.UpgradeSuspensionWindowSpec{Start: metav1.NewTime(now.Add(time.Hour).Truncate(time.Second)),
		End: metav1.NewTime(now.Add(2 * time.Hour).Truncate(time.Second)), Reason: "holidays", ConfigSelector: configs, JobSelector: jobs}}
	w.create(s, "freeze", nil)
	return s
}

func (w *world) reconcile() time.Duration {
	w.t.Helper()
	result, err := w.r.Reconcile(w.t.Context(), ctrl.Request{NamespacedName: client.ObjectKey{Namespace: "default", Name: "freeze"}})
	w.Expect(err).NotTo(HaveOccurred())
	return result.RequeueAfter
}

func (w *world) status() v1beta1.UpgradeSuspensionWindowStatus {
	w.t.Helper()
	var s v1beta1.UpgradeSuspensionWindow
	w.Expect(w.c.Get(w.t.Context(), client.ObjectKey{Namespace: "default", Name: "freeze"}, &s)).To(Succeed())
	return s.Status
}

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

func names(objects ...string) []v1beta1.MatchingObject {
	var out []v1beta1.MatchingObject
	for _, n := range objects {
		out = append(out, v1beta1.MatchingObject{Name: n})
	}
	return out
}

func TestAWindowShowsWhomItHolds(t *testing.T) {
	w := newWorld(t)
	day, night := map[string]string{"shift": "day"}, map[string]string{"shift": "night"}
	w.config("b", day)
	w.config("a", day)
	w.config("c", night)
	w.job("z", night)
	w.job("y", night)
	done := w.job("x", night)
	w.finish(done)
	w.suspend(&metav1.LabelSelector{MatchLabels: day}, &metav1.LabelSelector{})
	w.Expect(w.reconcile()).To(Equal(5 * time.Minute))
	w.Expect(w.status()).To(Equal(v1beta1.UpgradeSuspensionWindowStatus{MatchingConfigs: names("a", "b"), MatchingJobs: names("y", "z")}))

	w.r.Client = interceptor.NewClient(w.c, interceptor.Funcs{SubResourceUpdate: func(context.Context, client.Client, string, client.Object, ...client.SubResourceUpdateOption) error {
		return errors.New("nothing changed")
	}})
	w.reconcile()
	w.Expect(w.told()).To(BeEmpty())
}

func TestAWindowWithoutSelectorsHoldsNobody(t *testing.T) {
	w := newWorld(t)
	w.config("a", nil)
	w.job("b", nil)
	w.suspend(nil, nil)
	w.reconcile()
	w.Expect(w.status()).To(BeZero())
}

func TestASelectorThatCannotBeReadIsToldOnceAndHoldsNobody(t *testing.T) {
	w := newWorld(t)
	w.config("a", nil)
	w.job("b", nil)
	s := w.suspend(&metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "shift", Operator: "Like", Values: []string{"day"}}}}, &metav1.LabelSelector{})
	w.reconcile()
	w.Expect(w.status()).To(Equal(v1beta1.UpgradeSuspensionWindowStatus{MatchingJobs: names("b")}))
	w.Expect(w.told()).To(ConsistOf(And(HavePrefix("Warning InvalidSelector spec.configSelector cannot be read"), ContainSubstring("Like"))))
	w.reconcile()
	w.Expect(w.told()).To(BeEmpty())

	w.Expect(w.c.Get(t.Context(), client.ObjectKeyFromObject(s), s)).To(Succeed())
	s.Spec.ConfigSelector = &metav1.LabelSelector{}
	w.Expect(w.c.Update(t.Context(), s)).To(Succeed())
	w.reconcile()
	w.Expect(w.status().MatchingConfigs).To(Equal(names("a")))
	w.Expect(w.told()).To(BeEmpty())
}

func TestTheBeginningAndTheEndAreToldOnce(t *testing.T) {
	w := newWorld(t)
	s := w.suspend(&metav1.LabelSelector{}, nil)
	w.config("a", nil)
	w.reconcile()
	w.clock.SetTime(s.Spec.Start.Add(-time.Minute))
	w.Expect(w.reconcile()).To(Equal(time.Minute))
	w.Expect(w.told()).To(BeEmpty())
	w.clock.SetTime(s.Spec.Start.Time)
	w.reconcile()
	w.reconcile()
	w.Expect(w.told()).To(ConsistOf("Normal SuspensionBegan Holds 1 UpgradeConfigs and 0 UpgradeJobs until " + s.Spec.End.UTC().Format(time.RFC3339) + ": holidays"))
	w.clock.SetTime(s.Spec.End.Time)
	w.Expect(w.reconcile()).To(Equal(time.Millisecond))
	w.Expect(w.told()).To(BeEmpty(), "both ends belong to the window")
	w.clock.SetTime(s.Spec.End.Add(time.Millisecond))
	w.Expect(w.reconcile()).To(BeZero())
	w.Expect(w.told()).To(ConsistOf("Normal SuspensionEnded Holds nothing any more"))
	w.reconcile()
	w.Expect(w.told()).To(BeEmpty())
}

func TestAManagerThatWasAwaySaysNothing(t *testing.T) {
	w := newWorld(t)
	s := w.suspend(&metav1.LabelSelector{}, nil)
	w.clock.SetTime(s.Spec.Start.Add(time.Minute))
	w.reconcile()
	w.Expect(w.told()).To(BeEmpty())
	w.clock.SetTime(s.Spec.End.Add(time.Minute))
	w.reconcile()
	w.Expect(w.told()).To(ConsistOf(HavePrefix("Normal SuspensionEnded")))
	w.Expect(w.c.Delete(t.Context(), s)).To(Succeed())
	w.reconcile()
	w.Expect(w.r.seen).To(BeEmpty())
}

func TestAConflictLeadsToAnotherLook(t *testing.T) {
	w := newWorld(t)
	w.config("a", nil)
	w.suspend(&metav1.LabelSelector{}, nil)
	w.r.Client = interceptor.NewClient(w.c, interceptor.Funcs{SubResourceUpdate: func(ctx context.Context, c client.Client, sub string, o client.Object, opts ...client.SubResourceUpdateOption) error {
		o.SetResourceVersion("1")
		return c.SubResource(sub).Update(ctx, o, opts...)
	}})
	w.Expect(w.reconcile()).To(Equal(200 * time.Millisecond))
}

func TestWhichChangesWakeAWindow(t *testing.T) {
	for _, tt := range []struct {
		name    string
		change  func(*v1beta1.UpgradeJob)
		matters bool
	}{
		{"another label", func(j *v1beta1.UpgradeJob) { j.Labels = map[string]string{"a": "b"} }, true},
		{"its end", func(j *v1beta1.UpgradeJob) {
			j.Status.Conditions = []metav1.Condition{{Type: v1beta1.ConditionFailed, Status: metav1.ConditionTrue}}
		}, true},
		{"its progress", func(j *v1beta1.UpgradeJob) { j.Status.Waiting = "a hook runs" }, false},
		{"another job of the same name", func(j *v1beta1.UpgradeJob) { j.UID = "other" }, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			now := &v1beta1.UpgradeJob{}
			tt.change(now)
			NewWithT(t).Expect(matters(event.UpdateEvent{ObjectOld: &v1beta1.UpgradeJob{}, ObjectNew: now})).To(Equal(tt.matters))
		})
	}
}

func TestAManagerFollowsConfigsAndJobs(t *testing.T) {
	w := newWorld(t)
	mgr, err := ctrl.NewManager(testcluster.Start(t).Config, ctrl.Options{Scheme: w.c.Scheme(), Metrics: metricsserver.Options{BindAddress: "0"}, Controller: config.Controller{SkipNameValidation: new(true)}})
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect((&Reconciler{Client: mgr.GetClient(), Recorder: w.recorder, Clock: w.clock}).SetupWithManager(mgr)).To(Succeed())
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	t.Cleanup(func() { stop(); w.Expect(<-ended).To(Succeed()) })

	w.suspend(&metav1.LabelSelector{MatchLabels: map[string]string{"shift": "day"}}, &metav1.LabelSelector{})
	becomes := func(want v1beta1.UpgradeSuspensionWindowStatus) {
		t.Helper()
		w.Eventually(w.status).WithTimeout(20 * time.Second).WithPolling(50 * time.Millisecond).Should(Equal(want))
	}
	w.config("a", map[string]string{"shift": "day"})
	j := w.job("b", nil)
	becomes(v1beta1.UpgradeSuspensionWindowStatus{MatchingConfigs: names("a"), MatchingJobs: names("b")})
	w.finish(j)
	becomes(v1beta1.UpgradeSuspensionWindowStatus{MatchingConfigs: names("a")})
	patch := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"labels":{"shift":"night"}}}`))
	w.Expect(w.c.Patch(ctx, &v1beta1.UpgradeConfig{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a"}}, patch)).To(Succeed())
	becomes(v1beta1.UpgradeSuspensionWindowStatus{})
}
