// Package maintenance decides, from one observation, what happens next to an UpgradeJob and to an UpgradeConfig (seed:
// openshift-upgrade-controller). It is pure: no client, no clock but the one in the observation. It knows what OpenShift and a
// KubernetesUpgrade have in common, and nothing of their difference.
//
// A job passes its stages in order: create hooks, start, start hooks, lock, pools paused, health, install, health, complete hooks,
// pools let go, end. Every stage is asked anew at every look, so that it does not matter where a manager was killed.
package maintenance
