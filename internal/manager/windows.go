package manager

import (
	"fmt"

	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"

	"refit.dev/refit/internal/controller/clusterversion"
	"refit.dev/refit/internal/controller/suspensionwindow"
	"refit.dev/refit/internal/controller/upgradeconfig"
	"refit.dev/refit/internal/controller/upgradejob"
	"refit.dev/refit/internal/metrics"
	"refit.dev/refit/internal/observe"
	"refit.dev/refit/internal/paging"
	"refit.dev/refit/internal/prometheus"
	"refit.dev/refit/internal/target"
	"refit.dev/refit/internal/target/kubernetes"
	"refit.dev/refit/internal/target/openshift"
)

// registerWindows sets up what maintenance windows need.
func registerWindows(mgr ctrl.Manager, o Options, observer *observe.Observer) error {
	real, live := clock.RealClock{}, paging.Reader{Reader: mgr.GetAPIReader()}
	isOpenShift, hasPools, err := openshift.Served(mgr.GetRESTMapper())
	if err != nil {
		return fmt.Errorf("see whether the cluster is OpenShift: %w", err)
	}
	targets := &target.Set{
		OpenShift:   &openshift.Target{Live: live, Client: mgr.GetClient()},
		Kubernetes:  &kubernetes.Target{Live: live, Client: mgr.GetClient(), Observer: observer, Clock: real},
		IsOpenShift: isOpenShift,
		HasPools:    hasPools,
	}
	source := prometheus.Source{Dir: o.Prometheus}
	if isOpenShift {
		thanos := prometheus.OpenShift()
		source.Fixed = &thanos
	}
	for name, c := range map[string]interface{ SetupWithManager(ctrl.Manager) error }{
		"UpgradeConfig": &upgradeconfig.Reconciler{Client: mgr.GetClient(), Live: live, Targets: targets,
			Recorder: mgr.GetEventRecorder("refit"), Clock: real},
		"UpgradeJob": &upgradejob.Reconciler{Client: mgr.GetClient(), Live: live, Targets: targets, Prometheus: source,
			Recorder: mgr.GetEventRecorder("refit"), Clock: real},
		"UpgradeSuspensionWindow": &suspensionwindow.Reconciler{Client: mgr.GetClient(), Recorder: mgr.GetEventRecorder("refit"), Clock: real},
	} {
		if err := c.SetupWithManager(mgr); err != nil {
			return fmt.Errorf("set up the %s controller: %w", name, err)
		}
	}
	versions := &clusterversion.Reconciler{Client: mgr.GetClient(), Recorder: mgr.GetEventRecorder("refit"), Clock: real}
	if err := versions.SetupWithManager(mgr, isOpenShift); err != nil {
		return fmt.Errorf("set up the ClusterVersion controller: %w", err)
	}
	if err := metrics.Register(mgr.GetClient(), metrics.Options{Aliases: o.MetricAliases, OpenShift: isOpenShift && hasPools, Clock: real}); err != nil {
		return fmt.Errorf("set up the metrics: %w", err)
	}
	return nil
}
