package upgradejob_test

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"
	mcfgv1 "github.com/openshift/api/machineconfiguration/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"refit.dev/refit/api/jobtemplate"
	"refit.dev/refit/api/managedupgrade/v1beta1"
	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/controller/upgradeconfig"
	"refit.dev/refit/internal/controller/upgradejob"
	"refit.dev/refit/internal/openshift/crd"
	"refit.dev/refit/internal/openshift/simulator"
	"refit.dev/refit/internal/prometheus"
	"refit.dev/refit/internal/target"
	"refit.dev/refit/internal/target/openshift"
	"refit.dev/refit/internal/testcluster"
)

func TestMain(m *testing.M) { os.Exit(testcluster.Main(m)) }

const (
	namespace = "maintenance"
	patience  = 60 * time.Second
	often     = "100ms"
	from, to  = "4.16.2", "4.16.3"
)

// bed is a simulated OpenShift with Refit's controllers, each with the rights that they are installed with.
type bed struct {
	Gomega
	t   *testing.T
	ctx context.Context
	c   client.Client
	sim *simulator.Simulator
	// metrics is where health checks ask; nil for nowhere.
	metrics *prometheus.Endpoint
	// ahead is how much later than it is the controllers think it is.
	ahead time.Duration
}

// shifted is the real clock, some time ahead.
type shifted struct {
	clock.RealClock
	by time.Duration
}

func (s shifted) Now() time.Time                  { return s.RealClock.Now().Add(s.by) }
func (s shifted) Since(t time.Time) time.Duration { return s.Now().Sub(t) }

func newBed(t *testing.T) *bed {
	t.Helper()
	g := NewWithT(t)
	running := testcluster.Start(t)
	g.Expect(crd.Install(t.Context(), running.Config)).To(Succeed())
	scheme := testcluster.Scheme()
	g.Expect(openshift.AddToScheme(scheme)).To(Succeed())
	c, err := client.New(running.Config, client.Options{Scheme: scheme})
	g.Expect(err).NotTo(HaveOccurred())
	b := &bed{Gomega: g, t: t, ctx: t.Context(), c: c}
	for _, name := range []string{namespace, v1alpha1.Namespace} {
		b.create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
	}
	b.Expect(running.Apply(b.ctx, "rbac")).To(Succeed())
	b.sim, err = simulator.New(c, clock.RealClock{}, simulator.Options{Version: from, OperatorTime: 50 * time.Millisecond, MachineTime: 50 * time.Millisecond,
		Tick: 50 * time.Millisecond, AvailableUpdates: []configv1.Release{{Version: to, Image: simulator.Image(to)}},
		Operators: []string{"etcd", "monitoring", simulator.MachineConfig},
		Pools: []simulator.Pool{{Name: "master", Machines: 3}, {Name: "worker", Machines: 2}, {Name: "night", Machines: 2, Labels: map[string]string{"name": "night"}},
			{Name: "persons", Machines: 1, Labels: map[string]string{"name": "night"}}}})
	b.Expect(err).NotTo(HaveOccurred())
	b.Expect(b.sim.Seed(b.ctx)).To(Succeed())
	ctx, stop := context.WithCancel(b.ctx)
	ended := make(chan struct{})
	go func() { defer close(ended); _ = b.sim.Run(ctx) }()
	t.Cleanup(func() { stop(); <-ended; b.clear() })
	return b
}

func (b *bed) create(o client.Object) {
	b.t.Helper()
	if err := b.c.Create(b.ctx, o); !apierrors.IsAlreadyExists(err) {
		b.Expect(err).NotTo(HaveOccurred())
	}
}

// clear removes what the tests of this binary would meet next.
func (b *bed) clear() {
	b.ctx = context.Background()
	for _, o := range []client.Object{&v1beta1.UpgradeConfig{}, &v1beta1.UpgradeJobHook{}, &v1beta1.UpgradeSuspensionWindow{}} {
		b.Expect(b.c.DeleteAllOf(b.ctx, o, client.InNamespace(namespace))).To(Succeed())
	}
	var jobs v1beta1.UpgradeJobList
	b.Expect(b.c.List(b.ctx, &jobs)).To(Succeed())
	for i := range jobs.Items {
		jobs.Items[i].Finalizers = nil
		_ = b.c.Update(b.ctx, &jobs.Items[i])
		b.Expect(client.IgnoreNotFound(b.c.Delete(b.ctx, &jobs.Items[i]))).To(Succeed())
	}
	var runs batchv1.JobList
	b.Expect(b.c.List(b.ctx, &runs, client.InNamespace(namespace))).To(Succeed())
	for i := range runs.Items {
		runs.Items[i].Finalizers = nil
		b.Expect(client.IgnoreNotFound(b.c.Update(b.ctx, &runs.Items[i]))).To(Succeed())
		b.Expect(client.IgnoreNotFound(b.c.Delete(b.ctx, &runs.Items[i]))).To(Succeed())
	}
	for _, o := range []client.Object{&configv1.ClusterVersion{}, &configv1.ClusterOperator{}, &mcfgv1.MachineConfigPool{}} {
		b.Expect(b.c.DeleteAllOf(b.ctx, o)).To(Succeed())
	}
}

// manage runs the controllers until the function is called.
func (b *bed) manage() (stop func()) {
	b.t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{batchv1.AddToScheme, corev1.AddToScheme, v1alpha1.AddToScheme, v1beta1.AddToScheme, openshift.AddToScheme} {
		b.Expect(add(scheme)).To(Succeed())
	}
	mgr, err := ctrl.NewManager(testcluster.Start(b.t).As("refit-manager"), ctrl.Options{Scheme: scheme, Metrics: metricsserver.Options{BindAddress: "0"},
		Controller: config.Controller{SkipNameValidation: ptr.To(true)}})
	b.Expect(err).NotTo(HaveOccurred())
	served, pools, err := openshift.Served(mgr.GetRESTMapper())
	b.Expect(err).NotTo(HaveOccurred())
	b.Expect(served && pools).To(BeTrue())
	targets := &target.Set{OpenShift: &openshift.Target{Live: mgr.GetAPIReader(), Client: mgr.GetClient()}, IsOpenShift: served, HasPools: pools}
	now := shifted{by: b.ahead}
	for _, r := range []interface{ SetupWithManager(ctrl.Manager) error }{
		&upgradejob.Reconciler{Client: mgr.GetClient(), Live: mgr.GetAPIReader(), Targets: targets, Prometheus: prometheus.Source{Fixed: b.metrics}, Recorder: mgr.GetEventRecorder("refit"), Clock: now},
		&upgradeconfig.Reconciler{Client: mgr.GetClient(), Live: mgr.GetAPIReader(), Targets: targets, Recorder: mgr.GetEventRecorder("refit"), Clock: now},
	} {
		b.Expect(r.SetupWithManager(mgr)).To(Succeed())
	}
	ctx, cancel := context.WithCancel(b.ctx)
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	return func() {
		cancel()
		b.Expect(<-ended).To(Succeed())
	}
}

// job to upgrade now.
func (b *bed) job(change func(*v1beta1.UpgradeJob)) *v1beta1.UpgradeJob {
	now := time.Now().Add(b.ahead)
	j := &v1beta1.UpgradeJob{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, GenerateName: "job-", Labels: map[string]string{"upgrade-config": "cluster-upgrade"}},
		Spec: v1beta1.UpgradeJobSpec{StartAfter: metav1.NewTime(now), StartBefore: metav1.NewTime(now.Add(time.Hour)),
			DesiredVersion: &configv1.Update{Version: to, Image: simulator.Image(to)}}}
	if change != nil {
		change(j)
	}
	b.Expect(b.c.Create(b.ctx, j)).To(Succeed())
	return j
}

func (b *bed) hook(name string, change func(*v1beta1.UpgradeJobHook), events ...v1beta1.HookEvent) {
	h := &v1beta1.UpgradeJobHook{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Spec: v1beta1.UpgradeJobHookSpec{Events: events,
		Selector: metav1.LabelSelector{MatchLabels: map[string]string{"upgrade-config": "cluster-upgrade"}},
		Template: jobtemplate.Template{JobTemplateSpec: batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever,
			Containers: []corev1.Container{{Name: "notify", Image: "example.com/curl"}}}}}}}}}
	if change != nil {
		change(h)
	}
	b.Expect(b.c.Create(b.ctx, h)).To(Succeed())
}

// runs plays the Job controller and the TTL controller until the function is called: every Job of a hook is complete, or failed where the
// hook's name says so, and is deleted at once. It says how often each was created.
func (b *bed) runs() (seen func() map[string]int) {
	counts := map[types]int{}
	ctx, cancel := context.WithCancel(b.ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for ticker := time.NewTicker(50 * time.Millisecond); ; {
			var list batchv1.JobList
			if err := b.c.List(ctx, &list, client.InNamespace(namespace)); err == nil {
				for i := range list.Items {
					b.run(ctx, &list.Items[i], counts)
				}
			}
			select {
			case <-ctx.Done():
				ticker.Stop()
				return
			case <-ticker.C:
			}
		}
	}()
	b.t.Cleanup(func() { cancel(); <-ended })
	return func() map[string]int {
		cancel()
		<-ended
		out := map[string]int{}
		for k := range counts {
			out[k.hook+" "+k.event]++
		}
		return out
	}
}

// types tells one creation of a Job from another.
type types struct{ hook, event, uid string }

func (b *bed) run(ctx context.Context, j *batchv1.Job, counts map[types]int) {
	hook := j.Annotations[v1beta1.LabelHook]
	counts[types{hook, j.Labels[v1beta1.LabelEvent] + j.Annotations[v1beta1.AnnotationTrackingKey], string(j.UID)}]++
	if len(j.Status.Conditions) > 0 || hook == "hangs" {
		return
	}
	now := metav1.Now()
	j.Status.StartTime = &now
	kinds := []batchv1.JobConditionType{batchv1.JobSuccessCriteriaMet, batchv1.JobComplete}
	if hook == "fails" {
		kinds = []batchv1.JobConditionType{batchv1.JobFailureTarget, batchv1.JobFailed}
	} else {
		j.Status.CompletionTime = &now
	}
	for _, kind := range kinds {
		j.Status.Conditions = append(j.Status.Conditions, batchv1.JobCondition{Type: kind, Status: corev1.ConditionTrue, Reason: "Played", LastTransitionTime: now})
	}
	if err := b.c.Status().Update(ctx, j); err != nil {
		if !apierrors.IsConflict(err) && !apierrors.IsNotFound(err) && ctx.Err() == nil {
			fmt.Println("play a Job:", err)
		}
		return
	}
	_ = b.c.Delete(ctx, j, client.PropagationPolicy(metav1.DeletePropagationBackground))
}

func (b *bed) read(j *v1beta1.UpgradeJob) *v1beta1.UpgradeJob {
	var out v1beta1.UpgradeJob
	b.Expect(b.c.Get(b.ctx, client.ObjectKeyFromObject(j), &out)).To(Succeed())
	return &out
}

// ends waits for the end of a job, and for all that it took to be given back.
func (b *bed) ends(j *v1beta1.UpgradeJob, reason string) *v1beta1.UpgradeJob {
	b.t.Helper()
	b.Eventually(func(g Gomega) {
		var now v1beta1.UpgradeJob
		g.Expect(b.c.Get(b.ctx, client.ObjectKeyFromObject(j), &now)).To(Succeed())
		g.Expect(now.Outcome()).NotTo(BeNil(), "%s: %+v", now.Status.Waiting, now.Status.Conditions)
		g.Expect(now.Finalizers).To(BeEmpty(), "%+v", now.Status)
	}, patience, often).Should(Succeed())
	out := b.read(j)
	b.Expect(out.Outcome().Reason).To(Equal(reason), out.Outcome().Message)
	b.Expect(b.version().Annotations).NotTo(HaveKey(v1beta1.AnnotationLock))
	return out
}

func (b *bed) version() *configv1.ClusterVersion {
	var cv configv1.ClusterVersion
	b.Expect(b.c.Get(b.ctx, client.ObjectKey{Name: openshift.Name}, &cv)).To(Succeed())
	return &cv
}

func (b *bed) pool(name string) *mcfgv1.MachineConfigPool {
	var p mcfgv1.MachineConfigPool
	b.Expect(b.c.Get(b.ctx, client.ObjectKey{Name: name}, &p)).To(Succeed())
	return &p
}

func (b *bed) pause(name string) {
	p := b.pool(name)
	patch := client.MergeFrom(p.DeepCopy())
	p.Spec.Paused = true
	b.Expect(b.c.Patch(b.ctx, p, patch)).To(Succeed())
}
