// Package manager wires Refit's controllers to one cluster.
package manager

import (
	"flag"

	"refit.dev/refit/api/v1alpha1"
)

// Options are the manager's flags.
type Options struct {
	// LeaderElect lets one of several managers act. Default true.
	LeaderElect bool
	// Namespace of the election and of the namespaced objects. Default refit-system.
	Namespace string
	// Metrics and Probes are the addresses served; "0" serves none. Defaults :8080 and :8081.
	Metrics, Probes string
	// Profile is the address at which profiles of the program are served. Default none.
	Profile string
	// EtcdCertificates is the folder with ca.crt, healthcheck-client.crt and healthcheck-client.key of etcd.
	EtcdCertificates string
	// Prometheus is the folder that says where Prometheus is: the Secret refit-prometheus, mounted.
	Prometheus string
	// MetricAliases serves the metrics under the names of the OpenShift upgrade controller as well. Default true.
	MetricAliases bool
}

// Bind makes the options flags. Controller-runtime adds --kubeconfig.
func (o *Options) Bind(f *flag.FlagSet) {
	f.BoolVar(&o.LeaderElect, "leader-elect", true, "act only while this manager is the leader of all that run")
	f.StringVar(&o.Namespace, "namespace", v1alpha1.Namespace, "namespace of the leader election and of Refit's namespaced objects")
	f.StringVar(&o.Metrics, "metrics-bind-address", ":8080", "address to serve metrics at; 0 serves none")
	f.StringVar(&o.Probes, "health-probe-bind-address", ":8081", "address to serve /healthz and /readyz at; 0 serves none")
	f.StringVar(&o.Profile, "profile-bind-address", "", "address to serve profiles of the program at, such as 127.0.0.1:6060; empty serves none")
	f.StringVar(&o.EtcdCertificates, "etcd-certs-dir", "/etc/refit/etcd-pki", "folder with etcd's ca.crt, healthcheck-client.crt and healthcheck-client.key")
	f.StringVar(&o.Prometheus, "prometheus-dir", "/etc/refit/prometheus", "folder with url and, where they are needed, ca.crt, token and server-name of the Prometheus that health checks ask")
	f.BoolVar(&o.MetricAliases, "metric-aliases", true, "serve the metrics under the names of the OpenShift upgrade controller as well")
}
