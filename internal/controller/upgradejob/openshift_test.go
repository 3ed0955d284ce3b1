package upgradejob_test

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"refit.dev/refit/api/managedupgrade/v1beta1"
	"refit.dev/refit/internal/prometheus"
	"refit.dev/refit/internal/prometheus/realprometheus"
	"refit.dev/refit/internal/target/openshift"
)

func seconds(n int) *metav1.Duration {
	return &metav1.Duration{Duration: time.Duration(n) * time.Second}
}

func night(delay *metav1.Duration) []v1beta1.UpgradeJobMachineConfigPoolSpec {
	return []v1beta1.UpgradeJobMachineConfigPoolSpec{{MatchLabels: &v1beta1.PoolSelector{Labels: map[string]string{"name": "night"}}, DelayUpgrade: v1beta1.DelayUpgrade{DelayMin: delay}}}
}

// The managers are killed again and again; what is theirs must be done once all the same.
func TestOpenShiftIsUpgradedThroughManagersThatDie(t *testing.T) {
	b := newBed(t)
	all := []v1beta1.HookEvent{v1beta1.EventCreate, v1beta1.EventStart, v1beta1.EventUpgradeComplete, v1beta1.EventMachineConfigPoolUnpause, v1beta1.EventSuccess, v1beta1.EventFailure, v1beta1.EventFinish}
	b.hook("all", nil, all...)
	b.hook("next", func(h *v1beta1.UpgradeJobHook) { h.Spec.Run = v1beta1.RunNext }, v1beta1.EventStart, v1beta1.EventFinish)
	b.hook("fails", nil, v1beta1.EventStart)
	b.pause("persons")
	seen := b.runs()
	j := b.job(func(j *v1beta1.UpgradeJob) { j.Spec.Config.MachineConfigPools = night(seconds(8)) })
	// A busy machine gets to nothing in so short a time; it is given some more of them.
	for n := 0; n < 4 || !b.pool("night").Spec.Paused && n < 40; n++ {
		stop := b.manage()
		select {
		case <-time.After(1500 * time.Millisecond):
		case <-b.ctx.Done():
		}
		stop()
	}
	b.Expect(b.read(j).Finished()).To(BeFalse(), "it was too quick for the test")
	b.Expect(b.pool("night").Spec.Paused).To(BeTrue())
	b.Expect(b.pool("night").Annotations).To(HaveKeyWithValue(v1beta1.AnnotationPausedBy, namespace+"/"+j.Name))
	defer b.manage()()
	out := b.ends(j, v1beta1.ReasonSucceeded)
	for _, name := range []string{"master", "worker", "night"} {
		p := b.pool(name)
		b.Expect(openshift.Updated(p)).To(BeTrue(), name)
		b.Expect(p.Spec.Paused).To(BeFalse(), name)
		b.Expect(p.Annotations).NotTo(HaveKey(v1beta1.AnnotationPausedBy), name)
	}
	b.Expect(b.pool("persons").Spec.Paused).To(BeTrue(), "a person paused it")
	b.Expect(openshift.Updated(b.pool("persons"))).To(BeFalse())
	b.Expect(b.version().Status.History[0].Version).To(Equal(to))
	b.Expect(seen()).To(Equal(map[string]int{"all Create": 1, "all Start": 1, "all UpgradeComplete": 1, "all MachineConfigPoolUnpausenight": 1, "all Success": 1, "all Finish": 1,
		"next Start": 1, "next Finish": 1, "fails Start": 1}))
	b.Expect(out.Status.HookTracker).To(HaveLen(9))
	b.Expect(out.Status.Phase).To(Equal(v1beta1.JobSucceeded))
}

const rules = `groups:
- name: test
  interval: 500ms
  rules:
  - {alert: EtcdDown, expr: 'app_broken == 1', labels: {severity: critical, namespace: openshift-etcd}}
  - {alert: Noisy, expr: 'vector(1)', labels: {severity: critical, namespace: openshift-console}}
  - {alert: KubePodCrashLooping, expr: 'vector(1)', labels: {severity: critical, namespace: other}}
`

func TestACriticalAlertHoldsTheUpgradeUntilItEnds(t *testing.T) {
	b := newBed(t)
	app := realprometheus.NewTarget(t, "app_broken 1\n")
	server := realprometheus.Start(t, rules, app.URL())
	b.metrics = &prometheus.Endpoint{URL: server.URL}
	asks, err := prometheus.New(*b.metrics)
	b.Expect(err).NotTo(HaveOccurred())
	b.Eventually(func() ([]prometheus.Alert, error) { return asks.FiringAlerts(b.ctx, "critical") }, patience, often).Should(HaveLen(3))
	defer b.manage()()
	j := b.job(func(j *v1beta1.UpgradeJob) {
		j.Spec.Config.PreUpgradeHealthChecks = v1beta1.UpgradeJobHealthCheck{CheckCriticalAlerts: true, Timeout: seconds(120),
			ExcludeAlerts: []v1beta1.ExcludedAlert{{Alertname: "KubePodCrashLooping"}}, ExcludeNamespaces: []string{"openshift-console"},
			CustomQueries: []v1beta1.CustomQuery{{Query: "app_broken != 0"}}}
	})
	b.Eventually(func() string { return b.read(j).Status.Waiting }, patience, often).Should(And(
		ContainSubstring("critical alerts fire: EtcdDown in openshift-etcd."), ContainSubstring("query app_broken != 0 returned 1 result")))
	b.Expect(b.version().Spec.DesiredUpdate).To(BeNil(), "nothing was changed yet")
	app.Set("app_broken 0\n")
	b.ends(j, v1beta1.ReasonSucceeded)
}

func TestHowOpenShiftCanKeepAJobFromSucceeding(t *testing.T) {
	for _, tt := range []struct {
		name, reason, says string
		disturb            func(b *bed)
		change             func(j *v1beta1.UpgradeJob)
	}{
		{"an operator is degraded before", v1beta1.ReasonPreHealthCheckFailed, "monitoring is degraded: disk full", func(b *bed) { b.Expect(b.sim.Degrade("monitoring", "disk full")).To(Succeed()) },
			func(j *v1beta1.UpgradeJob) { j.Spec.Config.PreUpgradeHealthChecks.Timeout = seconds(2) }},
		{"a degraded operator is excluded", v1beta1.ReasonTimedOut, "", func(b *bed) { b.Expect(b.sim.Degrade("monitoring", "disk full")).To(Succeed()) },
			func(j *v1beta1.UpgradeJob) {
				j.Spec.Config.PreUpgradeHealthChecks.ExcludeOperators = []string{"monitoring"}
				j.Spec.Config.UpgradeTimeout = seconds(4)
			}},
		{"the update is withdrawn", v1beta1.ReasonUpgradeWithdrawn, to, func(b *bed) {
			b.Expect(b.sim.Withdraw(to)).To(Succeed())
			b.Eventually(func() int { return len(b.version().Status.AvailableUpdates) }, patience, often).Should(BeZero())
		}, nil},
		{"the operators are interrupted", v1beta1.ReasonTimedOut, "upgradeTimeout", func(b *bed) { b.sim.Interrupt(time.Hour) },
			func(j *v1beta1.UpgradeJob) { j.Spec.Config.UpgradeTimeout = seconds(3) }},
		{"no Prometheus is configured", v1beta1.ReasonPreHealthCheckFailed, "refit-prometheus", func(*bed) {},
			func(j *v1beta1.UpgradeJob) {
				j.Spec.Config.PreUpgradeHealthChecks = v1beta1.UpgradeJobHealthCheck{CheckCriticalAlerts: true, Timeout: seconds(1)}
			}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBed(t)
			tt.disturb(b)
			b.hook("failure", nil, v1beta1.EventFailure, v1beta1.EventSuccess)
			seen := b.runs()
			defer b.manage()()
			j := b.job(func(j *v1beta1.UpgradeJob) {
				j.Spec.Config.MachineConfigPools = night(seconds(6)) // once the upgrade is on its way, its pools wait for their time
				if tt.change != nil {
					tt.change(j)
				}
			})
			out := b.ends(j, tt.reason)
			b.Expect(out.Outcome().Message).To(ContainSubstring(tt.says))
			b.Expect(b.pool("night").Spec.Paused).To(BeFalse(), "what was taken is given back")
			b.Expect(seen()).To(Equal(map[string]int{"failure Failure": 1}))
		})
	}
}

func TestARunningJobThatIsDeletedGivesEverythingBack(t *testing.T) {
	b := newBed(t)
	b.hook("hangs", nil, v1beta1.EventUpgradeComplete)
	b.runs()
	defer b.manage()()
	j := b.job(func(j *v1beta1.UpgradeJob) { j.Spec.Config.MachineConfigPools = night(seconds(3600)) })
	b.Eventually(func() []v1beta1.HookTracker { return b.read(j).Status.HookTracker }, patience, often).Should(HaveLen(1))
	b.Expect(b.pool("night").Spec.Paused).To(BeTrue())
	b.Expect(b.c.Delete(b.ctx, j)).To(Succeed())
	b.Eventually(func() error { return b.c.Get(b.ctx, client.ObjectKeyFromObject(j), &v1beta1.UpgradeJob{}) }, patience, often).ShouldNot(Succeed())
	b.Expect(b.pool("night").Spec.Paused).To(BeFalse())
	b.Expect(b.version().Annotations).NotTo(HaveKey(v1beta1.AnnotationLock))
}

func TestOnlyOneJobAtATimeUpgrades(t *testing.T) {
	b := newBed(t)
	b.hook("hangs", func(h *v1beta1.UpgradeJobHook) { h.Spec.Selector.MatchLabels = map[string]string{"first": "yes"} }, v1beta1.EventUpgradeComplete)
	b.runs()
	defer b.manage()()
	first := b.job(func(j *v1beta1.UpgradeJob) { j.Labels["first"] = "yes" })
	b.Eventually(func() []v1beta1.HookTracker { return b.read(first).Status.HookTracker }, patience, often).Should(HaveLen(1))
	second := b.job(func(j *v1beta1.UpgradeJob) { j.Spec.DesiredVersion = nil })
	b.Eventually(func() string { return b.read(second).Status.Waiting }, patience, often).Should(ContainSubstring(first.Name + " has not ended"))
	b.Expect(b.c.Delete(b.ctx, first)).To(Succeed())
	b.ends(second, v1beta1.ReasonSucceeded)
}

func TestAConfigUpgradesTheClusterInItsWindow(t *testing.T) {
	b := newBed(t)
	// The controllers' clock is two seconds before a full minute.
	now := time.Now()
	b.ahead = now.Truncate(time.Minute).Add(58 * time.Second).Sub(now)
	b.create(&v1beta1.UpgradeConfig{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "cluster-upgrade"}, Spec: v1beta1.UpgradeConfigSpec{
		Schedule:    v1beta1.UpgradeConfigSchedule{Cron: "* * * * *", Location: "Europe/Zurich"},
		JobTemplate: v1beta1.UpgradeConfigJobTemplate{Metadata: v1beta1.TemplateMetadata{Labels: map[string]string{"upgrade-config": "cluster-upgrade"}}},
	}})
	defer b.manage()()
	var jobs v1beta1.UpgradeJobList
	b.Eventually(func(g Gomega) {
		g.Expect(b.c.List(b.ctx, &jobs, client.InNamespace(namespace))).To(Succeed())
		g.Expect(jobs.Items).NotTo(BeEmpty())
	}, patience, often).Should(Succeed())
	b.Expect(jobs.Items[0].Version()).To(Equal(to))
	b.ends(&jobs.Items[0], v1beta1.ReasonSucceeded)
	var config v1beta1.UpgradeConfig
	b.Expect(b.c.Get(b.ctx, client.ObjectKey{Namespace: namespace, Name: "cluster-upgrade"}, &config)).To(Succeed())
	b.Expect(config.Status.NextPossibleSchedules).To(HaveLen(v1beta1.SchedulesShown))
	b.Expect(config.Status.LastScheduledUpgrade).NotTo(BeNil())
}
