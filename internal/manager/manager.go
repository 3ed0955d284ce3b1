package manager

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlconfig "sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"refit.dev/refit/api/managedupgrade/v1beta1"
	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/controller/controlplaneupgrade"
	"refit.dev/refit/internal/controller/cordonmark"
	"refit.dev/refit/internal/controller/kubernetesupgrade"
	"refit.dev/refit/internal/controller/kubernetesversion"
	"refit.dev/refit/internal/controller/nodeupgrade"
	"refit.dev/refit/internal/observe"
	"refit.dev/refit/internal/paging"
	"refit.dev/refit/internal/target/openshift"
)

// The leader gives up well before another may take over, and holds on through the restart of one API server.
const (
	leaseDuration = 30 * time.Second
	renewDeadline = 20 * time.Second
	retryPeriod   = 2 * time.Second
	// shutdown bounds the end: what is under way is idempotent and is taken up by the next leader.
	shutdown = 10 * time.Second
	// The API server's Priority and Fairness keeps the peace; the client's own limit is a last resort.
	qps   = 300
	burst = 600
)

// Run runs the controllers until ctx ends.
func Run(ctx context.Context, o Options) error {
	collectEarly(ctx)
	config, err := ctrl.GetConfig()
	if err != nil {
		return fmt.Errorf("find the cluster: %w", err)
	}
	mgr, k, err := build(config, o)
	if err != nil {
		return err
	}
	if err := register(ctx, mgr, o, k); err != nil {
		return err
	}
	return mgr.Start(ctx)
}

// NewScheme knows the kinds that the manager reads and writes.
func NewScheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha1.AddToScheme, v1beta1.AddToScheme, openshift.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, err
		}
	}
	return scheme, nil
}

func build(config *rest.Config, o Options) (ctrl.Manager, *kept, error) {
	k := &kept{}
	scheme, err := NewScheme()
	if err != nil {
		return nil, nil, err
	}
	config = rest.CopyConfig(config)
	config.QPS, config.Burst = qps, burst
	mgr, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:                        scheme,
		Cache:                         cacheOptions(o, k),
		Client:                        client.Options{Cache: &client.CacheOptions{DisableFor: []client.Object{&corev1.ConfigMap{}, &corev1.Secret{}}}},
		Metrics:                       metricsserver.Options{BindAddress: o.Metrics},
		HealthProbeBindAddress:        o.Probes,
		PprofBindAddress:              o.Profile,
		LeaderElection:                o.LeaderElect,
		LeaderElectionID:              "refit-manager",
		LeaderElectionNamespace:       o.Namespace,
		LeaderElectionReleaseOnCancel: true,
		LeaseDuration:                 ptr.To(leaseDuration),
		RenewDeadline:                 ptr.To(renewDeadline),
		RetryPeriod:                   ptr.To(retryPeriod),
		GracefulShutdownTimeout:       ptr.To(shutdown),
		// The one that waits keeps its caches warm, so that it takes over at once.
		Controller: ctrlconfig.Controller{EnableWarmup: ptr.To(true), SkipNameValidation: ptr.To(true)},
	})
	if err != nil {
		return nil, nil, fmt.Errorf("set up the manager: %w", err)
	}
	k.cache = mgr.GetCache()
	for _, add := range []func(string, healthz.Checker) error{mgr.AddHealthzCheck, mgr.AddReadyzCheck} {
		if err := add("ping", healthz.Ping); err != nil {
			return nil, nil, err
		}
	}
	return mgr, k, nil
}

func register(ctx context.Context, mgr ctrl.Manager, o Options, k *kept) error {
	real, live := clock.RealClock{}, paging.Reader{Reader: mgr.GetAPIReader()}
	observer := &observe.Observer{Reader: mgr.GetClient(), Kept: k, Live: live, Config: mgr.GetConfig(),
		Etcd: observe.EtcdCertificates(o.EtcdCertificates), Clock: real}
	nodes := &nodeupgrade.Reconciler{Client: mgr.GetClient(), Live: live,
		Observer: observer, Recorder: mgr.GetEventRecorder("refit"), Clock: real, Limits: nodeupgrade.DefaultLimits()}
	if err := nodes.SetupWithManager(ctx, mgr); err != nil {
		return fmt.Errorf("set up the NodeUpgrade controller: %w", err)
	}
	for name, c := range map[string]interface{ SetupWithManager(ctrl.Manager) error }{
		"ControlPlaneUpgrade": &controlplaneupgrade.Reconciler{Client: mgr.GetClient(), Live: live, Observer: observer, Recorder: mgr.GetEventRecorder("refit"), Clock: real},
		"KubernetesUpgrade":   &kubernetesupgrade.Reconciler{Client: mgr.GetClient(), Observer: observer, Recorder: mgr.GetEventRecorder("refit"), Clock: real},
		"cordon mark":         &cordonmark.Reconciler{Client: mgr.GetClient()},
		"KubernetesVersion":   &kubernetesversion.Reconciler{Client: mgr.GetClient(), Observer: observer, Recorder: mgr.GetEventRecorder("refit")},
	} {
		if err := c.SetupWithManager(mgr); err != nil {
			return fmt.Errorf("set up the %s controller: %w", name, err)
		}
	}
	return registerWindows(mgr, o, observer)
}
