package v1beta1

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// DefaultHealthCheckTimeout is how long a cluster may take to become healthy.
const DefaultHealthCheckTimeout = time.Hour

// UpgradeJobHealthCheck says what makes a cluster healthy. It is asked again until it is, or until the timeout.
type UpgradeJobHealthCheck struct {
	// timeout is how long the cluster may take to become healthy. Default: 1h.
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^(0|([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+)$`
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="duration(self) <= duration('8760h')",message="must not be above 8760h"
	// +kubebuilder:default="1h"
	// +optional
	Timeout *metav1.Duration `json:"timeout,omitempty"`
	// checkCriticalAlerts: an alert that fires in Prometheus with severity=critical makes the cluster unhealthy. Default: false.
	// +optional
	CheckCriticalAlerts bool `json:"checkCriticalAlerts,omitempty"`
	// checkDegradedOperators: a cluster operator that is degraded or not available makes the cluster unhealthy (OpenShift). Default: true.
	// +optional
	CheckDegradedOperators *bool `json:"checkDegradedOperators,omitempty"`
	// skipDegradedOperatorsCheck turns checkDegradedOperators off.
	// +optional
	SkipDegradedOperatorsCheck bool `json:"skipDegradedOperatorsCheck,omitempty"`
	// excludeAlerts are alerts that do not count.
	// +kubebuilder:validation:MaxItems=200
	// +optional
	ExcludeAlerts []ExcludedAlert `json:"excludeAlerts,omitempty"`
	// excludeNamespaces are namespaces whose alerts do not count.
	// +kubebuilder:validation:MaxItems=500
	// +optional
	ExcludeNamespaces []string `json:"excludeNamespaces,omitempty"`
	// excludeOperators are cluster operators that do not count.
	// +kubebuilder:validation:MaxItems=100
	// +optional
	ExcludeOperators []string `json:"excludeOperators,omitempty"`
	// customQueries are PromQL queries, each of which makes the cluster unhealthy where it returns anything at all.
	// +kubebuilder:validation:MaxItems=50
	// +optional
	CustomQueries []CustomQuery `json:"customQueries,omitempty"`
}

// ExcludedAlert is an alert that does not count.
type ExcludedAlert struct {
	// alertname of the alert.
	// +kubebuilder:validation:MinLength=1
	Alertname string `json:"alertname"`
}

// CustomQuery is a question to Prometheus.
type CustomQuery struct {
	// query in PromQL. A query that returns anything is unhealthy, so compare: `up{job="app"} != 1`.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=4096
	Query string `json:"query"`
}

// Patience is spec.timeout, or its default.
func (h *UpgradeJobHealthCheck) Patience() time.Duration {
	return orDefault(h.Timeout, DefaultHealthCheckTimeout)
}

// ChecksOperators says whether cluster operators are looked at.
func (h *UpgradeJobHealthCheck) ChecksOperators() bool {
	return !h.SkipDegradedOperatorsCheck && (h.CheckDegradedOperators == nil || *h.CheckDegradedOperators)
}
