// Package metrics shows maintenance windows and upgrades to Prometheus: what the objects say when it asks, and nothing that is counted
// between two questions. Names that begin with refit_ are ours; those that begin with openshift_upgrade_controller_ are the ones of the
// public controller, so that dashboards and alerts go on working. docs/metrics.md lists both.
package metrics
