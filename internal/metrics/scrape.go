package metrics

import (
	"context"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// What is read, as the count of errors names it; labels are those that Prometheus would not take.
const (
	theJobs      = "upgradejobs"
	theHooks     = "upgradejobhooks"
	theConfigs   = "upgradeconfigs"
	theWindows   = "upgradesuspensionwindows"
	theUpgrades  = "kubernetesupgrades"
	theVersions  = "clusterversions"
	theOpenShift = "openshiftclusterversion"
	thePools     = "machineconfigpools"
	theLabels    = "labels"
)

var whats = []string{theJobs, theHooks, theConfigs, theWindows, theUpgrades, theVersions, theOpenShift, thePools, theLabels}

// scrape is one question of Prometheus.
type scrape struct {
	reader client.Reader
	// share is how long one read may take.
	share   time.Duration
	options Options
	now     time.Time
	out     chan<- prometheus.Metric
	// sent are the series that were given: the same one twice would cost Prometheus the whole scrape.
	sent   map[string]struct{}
	errors *prometheus.CounterVec
}

// failed counts something that is left out.
func (s *scrape) failed(what string, err error) {
	log.Log.WithName("metrics").V(1).Info("left out of the metrics", "what", what, "error", err.Error())
	s.errors.WithLabelValues(what).Inc()
}

// gauge gives a metric, unless it is turned off.
func (s *scrape) gauge(m *metric, value float64, labels ...string) {
	if m.alias && !s.options.Aliases {
		return
	}
	series := m.name + "\xff" + strings.Join(labels, "\xff")
	if _, again := s.sent[series]; again {
		return
	}
	s.sent[series] = struct{}{}
	out, err := prometheus.NewConstMetric(m.desc, prometheus.GaugeValue, value, labels...)
	if err != nil {
		s.failed(theLabels, err)
		return
	}
	s.out <- out
}

// timestamp gives a metric whose value is a time, in seconds since 1970.
func (s *scrape) timestamp(m *metric, at time.Time, labels ...string) {
	s.gauge(m, float64(at.Unix()), labels...)
}

// list reads all objects of a kind, and says whether that went well. They are the cache's own: nothing may change them.
func (s *scrape) list(ctx context.Context, what string, into client.ObjectList) bool {
	ctx, cancel := context.WithTimeout(ctx, s.share)
	defer cancel()
	err := s.reader.List(ctx, into, client.UnsafeDisableDeepCopy)
	if err != nil {
		s.failed(what, err)
	}
	return err == nil
}

// utc writes a time as the public controller does in labels.
func utc(t time.Time) string { return t.UTC().Format(time.RFC3339) }
