// Package simulator plays OpenShift's two operators on an API server that has OpenShift's kinds, but no OpenShift: the
// cluster-version operator, which brings the cluster operators to a new version, and the machine-config operator, which brings
// the machines of pools to a new configuration. It is for tests and for trying things out. What watches ClusterVersion,
// ClusterOperators and MachineConfigPools sees what it would see of the real ones, without images, machines and an hour's wait.
//
// A step (Step) looks at the cluster, does what is due by the clock, and writes what has changed; Run takes a step at each tick.
// At most one thing happens to an object in a step, however far the clock has gone: an operator that begins to take a version is
// seen to do so. Whatever is configured is read from the cluster in each step; only the work that is half done, which has no place in
// OpenShift's kinds, is remembered.
package simulator

import (
	configv1 "github.com/openshift/api/config/v1"
	machinev1 "github.com/openshift/api/machineconfiguration/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// AddToScheme makes OpenShift's kinds known to a scheme: those of config.openshift.io/v1 and machineconfiguration.openshift.io/v1.
func AddToScheme(s *runtime.Scheme) error {
	if err := configv1.Install(s); err != nil {
		return err
	}
	return machinev1.Install(s)
}
