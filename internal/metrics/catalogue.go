package metrics

import (
	"slices"

	"github.com/prometheus/client_golang/prometheus"
)

const (
	ownPrefix   = "refit_"
	aliasPrefix = "openshift_upgrade_controller_"
)

// metric is one that is collected.
type metric struct {
	name   string
	labels []string
	// alias says that it is a name of the public controller.
	alias bool
	desc  *prometheus.Desc
}

func own(name, help string, labels ...string) *metric {
	return &metric{name: ownPrefix + name, labels: labels, desc: prometheus.NewDesc(ownPrefix+name, help, labels, nil)}
}

func alias(name, help string, labels ...string) *metric {
	return &metric{name: aliasPrefix + name, labels: labels, alias: true, desc: prometheus.NewDesc(aliasPrefix+name, help, labels, nil)}
}

// catalogue are all metrics but the count of errors.
func catalogue() []*metric {
	return slices.Concat(jobMetrics, configMetrics, windowMetrics, versionMetrics, kubernetesMetrics, clusterMetrics)
}

func number(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
