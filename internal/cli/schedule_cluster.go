package cli

import (
	"context"
	"fmt"
	"time"

	configv1 "github.com/openshift/api/config/v1"
	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"refit.dev/refit/api/managedupgrade/v1beta1"
	"refit.dev/refit/internal/cli/windows"
	"refit.dev/refit/internal/target"
	"refit.dev/refit/internal/target/kubernetes"
	"refit.dev/refit/internal/target/openshift"
)

// scheduleOfCluster is what the cluster's UpgradeConfigs would do.
func (a *app) scheduleOfCluster(cmd *cobra.Command, config string, f scheduleFlags, from time.Time) ([]windows.Window, error) {
	ctx, cancel := a.bounded(cmd, defaultTimeout)
	defer cancel()
	c, err := a.connect()
	if err != nil {
		return nil, err
	}
	known, err := readMaintenance(ctx, c, f.namespace)
	if err != nil {
		return nil, err
	}
	configs, err := pick(config, f.namespace, known.configs)
	if err != nil {
		return nil, err
	}
	all := []windows.Window{}
	if len(configs) == 0 {
		a.note("There is no UpgradeConfig here: apply one, and try it first with `refit schedule -f FILE`.")
		return all, nil
	}
	a.noteManagersZone(configs)
	versions := a.versionsOf(ctx, c)
	for i := range configs {
		in := windows.Input{Config: inManagersZone(&configs[i]), Jobs: known.jobsOf(&configs[i]), Suspensions: known.suspensions,
			Now: a.clock.Now(), From: from, Count: f.count}
		in.Available, in.VersionsSeen = versions(configs[i].Spec.JobTemplate.Spec.Config.Target)
		found, err := windows.Forecast(in)
		if err != nil {
			found = []windows.Window{windows.Invalid(&configs[i], err)}
		}
		all = append(all, found...)
	}
	return all, nil
}

// maintenanceSeen is what the cluster holds of maintenance windows.
type maintenanceSeen struct {
	configs     []v1beta1.UpgradeConfig
	jobs        []v1beta1.UpgradeJob
	suspensions []v1beta1.UpgradeSuspensionWindow
}

// readMaintenance reads a namespace, or all.
func readMaintenance(ctx context.Context, c client.Reader, namespace string) (*maintenanceSeen, error) {
	var configs v1beta1.UpgradeConfigList
	if err := c.List(ctx, &configs, client.InNamespace(namespace)); err != nil {
		return nil, fmt.Errorf("list UpgradeConfigs: %w", err)
	}
	jobs, err := listJobs(ctx, c, namespace)
	if err != nil {
		return nil, err
	}
	var suspensions v1beta1.UpgradeSuspensionWindowList
	if err := c.List(ctx, &suspensions, client.InNamespace(namespace)); err != nil {
		return nil, fmt.Errorf("list UpgradeSuspensionWindows: %w", err)
	}
	return &maintenanceSeen{configs: configs.Items, jobs: jobs, suspensions: suspensions.Items}, nil
}

// jobsOf are the jobs that a config created.
func (m *maintenanceSeen) jobsOf(c *v1beta1.UpgradeConfig) []v1beta1.UpgradeJob {
	var own []v1beta1.UpgradeJob
	for i := range m.jobs {
		if m.jobs[i].Namespace == c.Namespace && configOf(&m.jobs[i]) == c.Name {
			own = append(own, m.jobs[i])
		}
	}
	return own
}

// configOf is the name of the UpgradeConfig that created a job, empty where none did.
func configOf(j *v1beta1.UpgradeJob) string {
	if owner := metav1.GetControllerOf(j); owner != nil && owner.Kind == "UpgradeConfig" {
		return owner.Name
	}
	return ""
}

// targets are what jobs upgrade here.
func (a *app) targets(c client.Client) (*target.Set, error) {
	served, _, err := openshift.Served(c.RESTMapper())
	if err != nil {
		return nil, fmt.Errorf("find out whether this is OpenShift: %w", err)
	}
	return &target.Set{OpenShift: &openshift.Target{Live: c, Client: c}, Kubernetes: &kubernetes.Target{Live: c, Client: c, Clock: a.clock}, IsOpenShift: served}, nil
}

// versionsOf gives the versions that can be installed now, by the target, and whether they could be seen.
func (a *app) versionsOf(ctx context.Context, c client.Client) func(v1beta1.TargetKind) ([]configv1.Release, bool) {
	type answer struct {
		available []configv1.Release
		seen      bool
	}
	known := map[v1beta1.TargetKind]answer{}
	return func(kind v1beta1.TargetKind) ([]configv1.Release, bool) {
		if _, asked := known[kind]; !asked {
			set, err := a.targets(c)
			var available []configv1.Release
			if err == nil {
				available, err = set.For(kind).Available(ctx)
			}
			if err != nil {
				a.note("The versions that can be installed could not be seen: %v", err)
			}
			known[kind] = answer{available, err == nil}
		}
		return known[kind].available, known[kind].seen
	}
}
