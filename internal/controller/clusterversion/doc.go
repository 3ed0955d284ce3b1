// Package clusterversion brings OpenShift's ClusterVersion to what our ClusterVersion says: a template, and overlays that change it
// from a time on (seed: openshift-upgrade-controller). spec.desiredUpdate is never touched: UpgradeJobs set it.
package clusterversion
