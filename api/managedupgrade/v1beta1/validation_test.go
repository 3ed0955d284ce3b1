package v1beta1_test

import (
	"os"
	"testing"

	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"

	"refit.dev/refit/internal/testcluster"
)

func TestMain(m *testing.M) { os.Exit(testcluster.Main(m)) }

func config(spec string) string {
	return "kind: UpgradeConfig\nspec: {schedule: {" + spec + "}, jobTemplate: {spec: {config: {}}}}"
}

func job(spec string) string {
	return "kind: UpgradeJob\nspec: {startAfter: '2026-12-01T22:00:00+01:00', startBefore: '2026-12-01T23:00:00+01:00', " + spec + "}"
}

func hook(spec string) string {
	return "kind: UpgradeJobHook\nspec: {" + spec + ", template: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: a, image: b}]}}}}}"
}

func TestWhatTheAPIServerTakesAndRefuses(t *testing.T) {
	c := testcluster.Start(t)
	for _, tt := range []struct {
		name, object string
		// refused are parts of the message; none where the object is taken.
		refused []string
	}{
		{"a schedule", config(`cron: "0 22 * * 2", isoWeek: "@odd", location: Europe/Zurich`), nil},
		{"a schedule in UTC, each week", config(`cron: "@weekly", location: UTC`), nil},
		{"a schedule in the manager's zone", config(`cron: "0 22 * * 2"`), nil},
		{"a schedule for week 53", config(`cron: "0 22 * * MON-FRI", isoWeek: "53"`), nil},
		{"no cron", config(`isoWeek: "7"`), []string{"spec.schedule.cron", "Required"}},
		{"four fields", config(`cron: "0 22 * *"`), []string{"spec.schedule.cron", "five fields"}},
		{"a time zone in cron", config(`cron: "CRON_TZ=UTC 0 22 * * 2"`), []string{"spec.schedule.cron", "use location"}},
		{"an interval", config(`cron: "@every 1h"`), []string{"spec.schedule.cron", "times of day"}},
		{"week 0", config(`cron: "0 22 * * 2", isoWeek: "0"`), []string{"spec.schedule.isoWeek", "1 to 53"}},
		{"week 99", config(`cron: "0 22 * * 2", isoWeek: "99"`), []string{"spec.schedule.isoWeek", "1 to 53"}},
		{"an unknown time zone", config(`cron: "0 22 * * 2", location: Mars/Base`), []string{"spec.schedule.location", "time zone"}},
		{"a window that is no duration", "kind: UpgradeConfig\nspec: {pinVersionWindow: 1 day, schedule: {cron: '0 22 * * 2'}, jobTemplate: {spec: {config: {}}}}", []string{"spec.pinVersionWindow"}},
		{"a negative delay", "kind: UpgradeConfig\nspec: {maxSchedulingDelay: -1h, schedule: {cron: '0 22 * * 2'}, jobTemplate: {spec: {config: {}}}}", []string{"spec.maxSchedulingDelay"}},

		{"a job without a version", job("config: {}"), nil},
		{"a job with pools as the seed spells them", job("config: {machineConfigPools: [{matchLabels: {name: x}, delayUpgrade: {startAfter: 1h, startBefore: 2h}}]}"), nil},
		{"a job with pools as the existing controller spells them", job("config: {machineConfigPools: [{matchLabels: {matchLabels: {name: x}}, delayUpgrade: {delayMin: 1h, delayMax: 2h}}]}"), nil},
		{"a minimum above the maximum", job("config: {machineConfigPools: [{matchLabels: {name: x}, delayUpgrade: {delayMin: 3h, delayMax: 2h}}]}"), []string{"spec.config.machineConfigPools[0].delayUpgrade", "delayMin must not be above delayMax"}},
		{"a minimum above the maximum in the seed's words", job("config: {machineConfigPools: [{matchLabels: {name: x}, delayUpgrade: {startAfter: 3h, startBefore: 2h}}]}"), []string{"delayMin must not be above delayMax"}},
		{"a setting under both names", job("config: {machineConfigPools: [{delayUpgrade: {startAfter: 1h, delayMin: 2h}}]}"), []string{"two names of one setting"}},
		{"a job that must start before it may", "kind: UpgradeJob\nspec: {startAfter: '2026-12-01T23:00:00Z', startBefore: '2026-12-01T22:00:00Z'}", []string{"startBefore must not be before startAfter"}},
		{"a target that is none", job("config: {target: Nomad}"), []string{"spec.config.target", "OpenShift"}},

		{"a timeout that no clock knows", job("config: {upgradeTimeout: 99999999h}"), []string{"spec.config.upgradeTimeout"}},
		{"a health check that takes years", job("config: {preUpgradeHealthChecks: {timeout: 9000h}}"), []string{"spec.config.preUpgradeHealthChecks.timeout", "8760h"}},
		{"a version that is none", job("desiredVersion: {force: true}"), []string{"desiredVersion needs a version or an image"}},
		{"a window pinned ages before", "kind: UpgradeConfig\nspec: {pinVersionWindow: 2000000h, schedule: {cron: '0 22 * * 2'}, jobTemplate: {spec: {config: {}}}}", []string{"spec.pinVersionWindow"}},

		{"a hook", hook("events: [Create, Start, Finish, Success, Failure], run: Next, failurePolicy: Ignore"), nil},
		{"a hook without events", hook("run: All"), []string{"spec.events", "Required"}},
		{"a hook with no event", hook("events: []"), []string{"spec.events", "at least 1"}},
		{"a hook with an event that is none", hook("events: [Started]"), []string{"spec.events[0]", "Create"}},
		{"a hook that runs sometimes", hook("events: [Start], run: Sometimes"), []string{"spec.run"}},

		{"a suspension", "kind: UpgradeSuspensionWindow\nspec: {start: '2026-12-24T00:00:00+01:00', end: '2027-01-02T00:00:00+01:00', reason: freeze, configSelector: {}}", nil},
		{"a suspension that ends before it starts", "kind: UpgradeSuspensionWindow\nspec: {start: '2026-12-24T00:00:00Z', end: '2026-12-23T00:00:00Z'}", []string{"end must not be before start"}},

		{"a cluster version", "kind: ClusterVersion\nspec: {template: {spec: {channel: stable-4.11, clusterID: bc75be34-e92d-4745-bb9d-8ec39e877854, desiredUpdate: {}, upstream: 'https://api.openshift.com/api/upgrades_info/v1/graph'}}}", nil},
		{"a cluster version with an overlay", "kind: ClusterVersion\nspec: {template: {spec: {channel: a}}, overlays: [{from: '2026-12-01T00:00:00Z', overlay: {spec: {channel: b}}}]}", nil},
		{"an overlay at no time", "kind: ClusterVersion\nspec: {overlays: [{from: '2026-01-01T00:00:00+99:99', overlay: {spec: {channel: b}}}]}", []string{"spec.overlays[0]"}},
		{"an overlay without its time", "kind: ClusterVersion\nspec: {overlays: [{overlay: {spec: {channel: b}}}]}", []string{"spec.overlays[0].from", "Required"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := NewWithT(t)
			o := &unstructured.Unstructured{}
			g.Expect(yaml.Unmarshal([]byte(tt.object), &o.Object)).To(Succeed())
			o.SetAPIVersion("managedupgrade.appuio.io/v1beta1")
			o.SetNamespace("default")
			o.SetGenerateName("it-")
			err := c.Client.Create(t.Context(), o)
			if len(tt.refused) == 0 {
				g.Expect(err).NotTo(HaveOccurred())
				return
			}
			g.Expect(apierrors.IsInvalid(err)).To(BeTrue(), "%v", err)
			for _, part := range tt.refused {
				g.Expect(err.Error()).To(ContainSubstring(part))
			}
		})
	}
}
