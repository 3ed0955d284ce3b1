package metrics

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"
	mcfgv1 "github.com/openshift/api/machineconfiguration/v1"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"refit.dev/refit/api/managedupgrade/v1beta1"
	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/target/openshift"
	"refit.dev/refit/internal/testcluster"
)

var noon = time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)

func at(hours int) metav1.Time {
	return metav1.NewTime(noon.Add(time.Duration(hours) * time.Hour).In(time.FixedZone("CET", 3600)))
}

func named(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: "ops", Name: name, CreationTimestamp: at(-48)}
}

func is(kind, reason string) metav1.Condition {
	return metav1.Condition{Type: kind, Status: metav1.ConditionTrue, Reason: reason, LastTransitionTime: at(-1)}
}

func failedJob() *v1beta1.UpgradeJob {
	return &v1beta1.UpgradeJob{ObjectMeta: named("failed"),
		Spec: v1beta1.UpgradeJobSpec{StartAfter: at(-2), StartBefore: at(-1), DesiredVersion: &configv1.Update{Version: "4.16.2", Image: "quay.io/ocp@sha256:1", Force: true}},
		Status: v1beta1.UpgradeJobStatus{Conditions: []metav1.Condition{is(v1beta1.ConditionStarted, "Started"), is(v1beta1.ConditionFailed, "HookFailed")},
			HookTracker: []v1beta1.HookTracker{
				{HookEvent: v1beta1.EventStart, UpgradeJobHook: "notify", Status: v1beta1.HookComplete},
				{HookEvent: v1beta1.EventMachineConfigPoolUnpause, TrackingKey: "worker", UpgradeJobHook: "notify", Status: v1beta1.HookComplete},
				{HookEvent: v1beta1.EventMachineConfigPoolUnpause, TrackingKey: "gpu", UpgradeJobHook: "notify", Status: v1beta1.HookComplete},
				{HookEvent: v1beta1.EventFinish, UpgradeJobHook: "notify", Status: v1beta1.HookFailed},
			}}}
}

func upgradeConfig() *v1beta1.UpgradeConfig {
	return &v1beta1.UpgradeConfig{ObjectMeta: named("weekly"),
		Spec:   v1beta1.UpgradeConfigSpec{Schedule: v1beta1.UpgradeConfigSchedule{Cron: "0 22 * * 2", Location: "Europe/Zurich", Suspend: true}, PinVersionWindow: &metav1.Duration{Duration: 4 * time.Hour}},
		Status: v1beta1.UpgradeConfigStatus{NextPossibleSchedules: []v1beta1.NextPossibleSchedule{{Time: at(9)}, {Time: at(9 + 7*24)}}}}
}

func suspension() *v1beta1.UpgradeSuspensionWindow {
	return &v1beta1.UpgradeSuspensionWindow{ObjectMeta: named("freeze"), Spec: v1beta1.UpgradeSuspensionWindowSpec{Start: at(-1), End: at(0), Reason: "holidays"},
		Status: v1beta1.UpgradeSuspensionWindowStatus{MatchingConfigs: []v1beta1.MatchingObject{{Name: "weekly"}}, MatchingJobs: []v1beta1.MatchingObject{{Name: "pending"}}}}
}

func clusterVersion() *v1beta1.ClusterVersion {
	return &v1beta1.ClusterVersion{ObjectMeta: named("version"), Status: v1beta1.ClusterVersionStatus{
		Current:    v1beta1.OverlaySpec{Channel: "stable-4.16", ClusterID: "id", Upstream: "https://graph", Capabilities: &configv1.ClusterVersionCapabilitiesSpec{BaselineCapabilitySet: "v4.16"}},
		Overlays:   []v1beta1.OverlayPreview{{From: at(5), Preview: v1beta1.ClusterVersionTemplate{Spec: v1beta1.OverlaySpec{Channel: "stable-4.17"}}}},
		Conditions: []metav1.Condition{is(v1beta1.ConditionSynced, v1beta1.ReasonSynced)}}}
}

func kubernetesUpgrade() *v1alpha1.KubernetesUpgrade {
	return &v1alpha1.KubernetesUpgrade{ObjectMeta: metav1.ObjectMeta{Name: "upgrade-1"}, Spec: v1alpha1.KubernetesUpgradeSpec{ToVersion: "v1.36.3"},
		Status: v1alpha1.KubernetesUpgradeStatus{State: v1alpha1.StateUpgradingKubelets, StartedAt: new(at(-1)), Nodes: v1alpha1.NodeCounts{Total: 9, Upgraded: 5, InProgress: 2, Failed: 1, Unavailable: 3}}}
}

func pool(name string, paused bool, updated int32) *mcfgv1.MachineConfigPool {
	return &mcfgv1.MachineConfigPool{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: mcfgv1.MachineConfigPoolSpec{Paused: paused},
		Status: mcfgv1.MachineConfigPoolStatus{MachineCount: 3, UpdatedMachineCount: updated}}
}

func openShiftVersion() *configv1.ClusterVersion {
	return &configv1.ClusterVersion{ObjectMeta: metav1.ObjectMeta{Name: "version"}, Spec: configv1.ClusterVersionSpec{DesiredUpdate: &configv1.Update{Version: "4.16.2"}},
		Status: configv1.ClusterVersionStatus{History: []configv1.UpdateHistory{{State: configv1.CompletedUpdate, Version: "4.16.2"}}}}
}

// everything is an object of each kind, those of OpenShift included.
func everything() []client.Object {
	pending := &v1beta1.UpgradeJob{ObjectMeta: named("pending"), Spec: v1beta1.UpgradeJobSpec{StartAfter: at(9), StartBefore: at(10)}}
	hook := &v1beta1.UpgradeJobHook{ObjectMeta: named("notify"), Spec: v1beta1.UpgradeJobHookSpec{Disruptive: true, Run: v1beta1.RunNext}}
	return []client.Object{failedJob(), pending, hook, upgradeConfig(), suspension(), clusterVersion(), kubernetesUpgrade(), pool("worker", false, 2), pool("gpu", true, 0), openShiftVersion()}
}

func reader(t *testing.T, objects ...client.Object) client.WithWatch {
	t.Helper()
	scheme := testcluster.Scheme()
	NewWithT(t).Expect(openshift.AddToScheme(scheme)).To(Succeed())
	return fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).Build()
}

func collector(r client.Reader, o Options) *Collector {
	o.Clock = clocktesting.NewFakePassiveClock(noon)
	return New(r, o)
}

func families(t *testing.T, c *Collector) []*dto.MetricFamily {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	g := NewWithT(t)
	g.Expect(registry.Register(c)).To(Succeed())
	out, err := registry.Gather()
	g.Expect(err).NotTo(HaveOccurred(), "nothing may break the scrape")
	return out
}

// gather are all series, as Prometheus writes them. Counts of errors that are 0 are left out.
func gather(t *testing.T, c *Collector) map[string]float64 {
	t.Helper()
	out := map[string]float64{}
	for _, f := range families(t, c) {
		for _, m := range f.Metric {
			value := m.GetGauge().GetValue() + m.GetCounter().GetValue()
			if f.GetType() == dto.MetricType_COUNTER && value == 0 {
				continue
			}
			var labels []string
			for _, l := range m.Label {
				labels = append(labels, l.GetName()+"="+l.GetValue())
			}
			out[f.GetName()+"{"+strings.Join(labels, ",")+"}"] = value
		}
	}
	return out
}

// names are those of the metrics that series belong to.
func names(series map[string]float64) []string {
	found := map[string]struct{}{}
	for s := range series {
		name, _, _ := strings.Cut(s, "{")
		found[name] = struct{}{}
	}
	return slices.Sorted(maps.Keys(found))
}
