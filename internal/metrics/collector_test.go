package metrics

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	dto "github.com/prometheus/client_model/go"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"refit.dev/refit/api/managedupgrade/v1beta1"
	"refit.dev/refit/api/v1alpha1"
)

var noonSeconds = float64(noon.Unix())

func hours(n float64) float64 { return noonSeconds + 3600*n }

// ofOwn are our series of everything on OpenShift, where a pool is being updated.
func ofOwn() map[string]float64 {
	return map[string]float64{
		"refit_cluster_upgrading{}": 1,
		"refit_upgradejob_state{namespace=ops,reason=HookFailed,state=failed,upgradejob=failed,version=4.16.2}":                  1,
		"refit_upgradejob_state{namespace=ops,reason=,state=pending,upgradejob=pending,version=}":                                1,
		"refit_upgradejob_hook_runs{event=Start,hook=notify,namespace=ops,status=complete,upgradejob=failed}":                    1,
		"refit_upgradejob_hook_runs{event=MachineConfigPoolUnpause,hook=notify,namespace=ops,status=complete,upgradejob=failed}": 2,
		"refit_upgradejob_hook_runs{event=Finish,hook=notify,namespace=ops,status=failed,upgradejob=failed}":                     1,
		"refit_upgradeconfig_next_schedule_timestamp_seconds{namespace=ops,upgradeconfig=weekly}":                                hours(9),
		"refit_upgradeconfig_suspended{namespace=ops,upgradeconfig=weekly}":                                                      1,
		"refit_suspension_active{namespace=ops,upgradesuspensionwindow=freeze}":                                                  1,
		"refit_kubernetesupgrade_state{state=upgrading-kubelets,to_version=v1.36.3,upgrade=upgrade-1}":                           1,
		"refit_kubernetesupgrade_nodes{upgrade=upgrade-1,what=total}":                                                            9,
		"refit_kubernetesupgrade_nodes{upgrade=upgrade-1,what=upgraded}":                                                         5,
		"refit_kubernetesupgrade_nodes{upgrade=upgrade-1,what=inProgress}":                                                       2,
		"refit_kubernetesupgrade_nodes{upgrade=upgrade-1,what=failed}":                                                           1,
		"refit_kubernetesupgrade_nodes{upgrade=upgrade-1,what=unavailable}":                                                      3,
	}
}

// ofAliases are the series of everything under the names of the public controller, without their prefix.
func ofAliases() map[string]float64 {
	return map[string]float64{
		"cluster_upgrading{}":                         1,
		"machine_config_pools_upgrading{pool=worker}": 1,
		"machine_config_pools_upgrading{pool=gpu}":    0,
		"machine_config_pools_paused{pool=worker}":    0,
		"machine_config_pools_paused{pool=gpu}":       1,
		"upgradejob_state{desired_version_force=true,desired_version_image=quay.io/ocp@sha256:1,desired_version_version=4.16.2,matches_disruptive_hooks=false,namespace=ops," +
			"reason=HookFailed,start_after=2026-12-01T10:00:00Z,start_before=2026-12-01T11:00:00Z,state=failed,upgradejob=failed}": 1,
		"upgradejob_state{desired_version_force=false,desired_version_image=,desired_version_version=,matches_disruptive_hooks=true,namespace=ops," +
			"reason=,start_after=2026-12-01T21:00:00Z,start_before=2026-12-01T22:00:00Z,state=pending,upgradejob=pending}": 1,
		"upgradejob_start_after_timestamp_seconds{namespace=ops,upgradejob=failed}":                                                                                                     hours(-2),
		"upgradejob_start_after_timestamp_seconds{namespace=ops,upgradejob=pending}":                                                                                                    hours(9),
		"upgradejob_start_before_timestamp_seconds{namespace=ops,upgradejob=failed}":                                                                                                    hours(-1),
		"upgradejob_start_before_timestamp_seconds{namespace=ops,upgradejob=pending}":                                                                                                   hours(10),
		"upgradeconfig_info{cron=0 22 * * 2,location=Europe/Zurich,namespace=ops,suspended=true,upgradeconfig=weekly}":                                                                  1,
		"upgradeconfig_pin_version_window_seconds{namespace=ops,upgradeconfig=weekly}":                                                                                                  4 * 3600,
		"upgradeconfig_next_possible_schedule_timestamp_seconds{n=0,namespace=ops,timestamp=2026-12-01T21:00:00Z,upgradeconfig=weekly}":                                                 hours(9),
		"upgradeconfig_next_possible_schedule_timestamp_seconds{n=1,namespace=ops,timestamp=2026-12-08T21:00:00Z,upgradeconfig=weekly}":                                                 hours(9 + 7*24),
		"upgradesuspensionwindow_info{namespace=ops,reason=holidays,upgradesuspensionwindow=freeze}":                                                                                    1,
		"upgradesuspensionwindow_start_timestamp_seconds{namespace=ops,upgradesuspensionwindow=freeze}":                                                                                 hours(-1),
		"upgradesuspensionwindow_end_timestamp_seconds{namespace=ops,upgradesuspensionwindow=freeze}":                                                                                   hours(0),
		"upgradesuspensionwindow_matching_config{config=weekly,namespace=ops,upgradesuspensionwindow=freeze}":                                                                           1,
		"upgradesuspensionwindow_matching_job{job=pending,namespace=ops,upgradesuspensionwindow=freeze}":                                                                                1,
		"cluster_version_info{baseline_capability_set=v4.16,channel=stable-4.16,cluster_id=id,cluster_version=version,namespace=ops,upstream=https://graph}":                            1,
		"cluster_version_overlay_timestamp_seconds{baseline_capability_set=,channel=stable-4.17,cluster_id=,cluster_version=version,from=2026-12-01T17:00:00Z,namespace=ops,upstream=}": hours(5),
	}
}

func TestEverythingOnOpenShift(t *testing.T) {
	want := ofOwn()
	for series, value := range ofAliases() {
		want["openshift_upgrade_controller_"+series] = value
	}
	NewWithT(t).Expect(gather(t, collector(reader(t, everything()...), Options{Aliases: true, OpenShift: true}))).To(Equal(want))
}

func TestWithoutAliasesOnlyOursAreGiven(t *testing.T) {
	NewWithT(t).Expect(gather(t, collector(reader(t, everything()...), Options{OpenShift: true}))).To(Equal(ofOwn()))
}

func TestWithoutOpenShiftItsKindsAreNotAskedForAndTheKubernetesUpgradeCounts(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*v1alpha1.KubernetesUpgrade)
		want   float64
	}{
		{"under way", func(*v1alpha1.KubernetesUpgrade) {}, 1},
		{"failed, and waiting for a person", func(u *v1alpha1.KubernetesUpgrade) { u.Status.State = v1alpha1.StateUpgradeFailed }, 1},
		{"not started", func(u *v1alpha1.KubernetesUpgrade) { u.Status = v1alpha1.KubernetesUpgradeStatus{} }, 0},
		{"complete", func(u *v1alpha1.KubernetesUpgrade) { u.Status.State = v1alpha1.StateUpgradeComplete }, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g, u := NewWithT(t), kubernetesUpgrade()
			tt.change(u)
			got := gather(t, collector(reader(t, u), Options{Aliases: true}))
			g.Expect(got).To(HaveKeyWithValue("refit_cluster_upgrading{}", tt.want))
			g.Expect(got).To(HaveKeyWithValue("openshift_upgrade_controller_cluster_upgrading{}", tt.want))
			g.Expect(names(got)).NotTo(ContainElement(ContainSubstring("errors")))
			g.Expect(names(got)).NotTo(ContainElement(ContainSubstring("pools")))
		})
	}
}

func TestAnOpenShiftClusterIsBeingUpgraded(t *testing.T) {
	history := func(state configv1.UpdateState) []configv1.UpdateHistory {
		return []configv1.UpdateHistory{{State: state, Version: "4.16.2", Image: "a"}, {State: configv1.CompletedUpdate, Version: "4.16.1"}}
	}
	for _, tt := range []struct {
		name    string
		desired *configv1.Update
		history []configv1.UpdateHistory
		pool    client.Object
		want    float64
	}{
		{"no: the desired version is installed", &configv1.Update{Version: "4.16.2"}, history(configv1.CompletedUpdate), pool("worker", false, 3), 0},
		{"no: the desired image is installed", &configv1.Update{Image: "a"}, history(configv1.CompletedUpdate), pool("worker", false, 3), 0},
		{"no: nothing is desired", nil, history(configv1.CompletedUpdate), pool("worker", false, 3), 0},
		{"no: only a paused pool is behind", nil, history(configv1.CompletedUpdate), pool("worker", true, 0), 0},
		{"yes: a pool is behind", nil, history(configv1.CompletedUpdate), pool("worker", false, 2), 1},
		{"yes: the version is being installed", &configv1.Update{Version: "4.16.2"}, history(configv1.PartialUpdate), pool("worker", false, 3), 1},
		{"yes: another version is desired", &configv1.Update{Version: "4.16.3"}, history(configv1.CompletedUpdate), pool("worker", false, 3), 1},
		{"yes: another image is desired", &configv1.Update{Image: "b"}, history(configv1.CompletedUpdate), pool("worker", false, 3), 1},
		{"yes: nothing was ever installed", nil, nil, pool("worker", false, 3), 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cv := openShiftVersion()
			cv.Spec.DesiredUpdate, cv.Status.History = tt.desired, tt.history
			NewWithT(t).Expect(gather(t, collector(reader(t, cv, tt.pool), Options{OpenShift: true}))).To(HaveKeyWithValue("refit_cluster_upgrading{}", tt.want))
		})
	}
}

func TestAClusterVersionThatDoesNotCountIsNotShown(t *testing.T) {
	other := clusterVersion()
	other.Name, other.Status.Conditions[0].Reason = "other", v1beta1.ReasonAnother
	fresh := clusterVersion()
	fresh.Name, fresh.Status = "fresh", v1beta1.ClusterVersionStatus{}
	NewWithT(t).Expect(names(gather(t, collector(reader(t, other, fresh), Options{Aliases: true})))).NotTo(ContainElement(ContainSubstring("cluster_version")))
}

func TestOurNamesAreAsPrometheusWouldHaveThem(t *testing.T) {
	g := NewWithT(t)
	var ours []*dto.MetricFamily
	for _, f := range families(t, collector(reader(t, everything()...), Options{Aliases: true, OpenShift: true})) {
		if strings.HasPrefix(f.GetName(), ownPrefix) {
			ours = append(ours, f)
		}
	}
	g.Expect(ours).To(HaveLen(len(names(ofOwn())) + 1))
	problems, err := promlint.NewWithMetricFamilies(ours).Lint()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(problems).To(BeEmpty())
}

func TestTheManagersRegistryTakesTheLatestCollector(t *testing.T) {
	g := NewWithT(t)
	g.Expect(Register(reader(t), Options{Aliases: true})).To(Succeed())
	g.Expect(Register(reader(t, upgradeConfig()), Options{})).To(Succeed())
	gathered, err := metrics.Registry.Gather()
	g.Expect(err).NotTo(HaveOccurred())
	var found []string
	for _, f := range gathered {
		found = append(found, f.GetName())
	}
	g.Expect(found).To(ContainElement("refit_upgradeconfig_suspended"))
	g.Expect(found).NotTo(ContainElement(HavePrefix(aliasPrefix)))
}
