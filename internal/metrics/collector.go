package metrics

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// timeout bounds all reads of one scrape, and each of them may take a quarter of it: a kind that hangs does not cost the others. What could
// not be read by then is left out.
const timeout = 2 * time.Second

// Options say what is collected.
type Options struct {
	// Aliases also gives the names of the public controller.
	Aliases bool
	// OpenShift says that the cluster serves OpenShift's kinds. Without it they are not asked for.
	OpenShift bool
	// Clock says which suspension windows are under way. Default: the real one.
	Clock clock.PassiveClock
}

// Collector collects from a cache whenever Prometheus asks. It may be asked several times at once.
type Collector struct {
	reader  client.Reader
	options Options
	timeout time.Duration
	errors  *prometheus.CounterVec
}

var _ prometheus.Collector = &Collector{}

// New makes a collector that reads from the manager's cache, whose scheme knows Refit's kinds and, with Options.OpenShift, OpenShift's.
func New(reader client.Reader, o Options) *Collector {
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	c := &Collector{reader: reader, options: o, timeout: timeout, errors: prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: ownPrefix + "metrics_collect_errors_total", Help: "How often something could not be read for the metrics, which were left out.",
	}, []string{"what"})}
	for _, what := range whats {
		c.errors.WithLabelValues(what)
	}
	return c
}

// Register has controller-runtime's registry, which the manager serves at /metrics, collect from a reader. A collector that was
// registered before is replaced: one process has one.
func Register(reader client.Reader, o Options) error {
	c := New(reader, o)
	metrics.Registry.Unregister(c)
	return metrics.Registry.Register(c)
}

// Describe gives all metrics, also those that the options turn off.
func (c *Collector) Describe(out chan<- *prometheus.Desc) {
	for _, m := range catalogue() {
		out <- m.desc
	}
	c.errors.Describe(out)
}

// Collect gives what can be read in time, the most important first. It gives no invalid metric, since one would cost Prometheus the whole
// scrape.
func (c *Collector) Collect(out chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), c.timeout)
	defer cancel()
	s := &scrape{reader: c.reader, share: c.timeout / 4, options: c.options, now: c.options.Clock.Now(), out: out, errors: c.errors, sent: map[string]struct{}{}}
	s.jobs(ctx)
	s.configs(ctx)
	s.windows(ctx)
	s.kubernetesUpgrades(ctx)
	if c.options.OpenShift {
		s.openShift(ctx)
	}
	if c.options.Aliases {
		s.versions(ctx)
	}
	c.errors.Collect(out)
}
