package simulator

import (
	"fmt"
	"strings"

	configv1 "github.com/openshift/api/config/v1"
)

// manifests is how many manifests a release is said to have.
const manifests = 900

// sumUp says in the ClusterVersion's conditions how things stand, and completes an update that has nothing left to do.
func (w *world) sumUp() {
	status := &w.version.Status
	version, c := status.Desired.Version, w.conditions()
	c.set(implicitlyEnabled, false, "AsExpected", "Capabilities match configured spec")
	next := w.next()
	if w.updating() && next == "" {
		w.complete()
		w.retrieve()
	}
	if !w.updating() {
		c.set(configv1.OperatorAvailable, true, "", "Done applying "+version)
	}
	reason, message := w.failure(next)
	c.set(failing, reason != "", reason, message)
	stopped := ""
	if c.index(invalid) >= 0 {
		stopped = "Stopped at " + version + ": the cluster version is invalid"
	}
	switch {
	case w.updating() && reason != "":
		c.set(configv1.OperatorProgressing, true, reason, "Unable to apply "+version+": "+inside(message))
	case w.updating():
		done := w.done()
		c.set(configv1.OperatorProgressing, true, "ClusterOperatorUpdating",
			fmt.Sprintf("Working towards %s: %d of %d done (%d%% complete), waiting on %s", version, done, manifests, done*100/manifests, next))
	case reason != "":
		c.set(configv1.OperatorProgressing, false, reason, "Error while reconciling "+version+": "+inside(message))
	case stopped != "":
		c.set(configv1.OperatorProgressing, false, "InvalidClusterVersion", stopped)
	default:
		c.set(configv1.OperatorProgressing, false, "", "Cluster version is "+version)
	}
}

// failure is what makes the ClusterVersion Failing: an operator that is not available, or one that has been degraded for too long. An update
// looks no further than the operator that it is at.
func (w *world) failure(next string) (reason, message string) {
	for _, name := range w.options.Operators {
		t, troubled := w.troubles[name]
		switch {
		case troubled && t.unavailable:
			return "ClusterOperatorNotAvailable", "Cluster operator " + name + " is not available"
		case troubled && w.now.Sub(t.since) >= w.options.FailingAfter:
			return "ClusterOperatorDegraded", "Cluster operator " + name + " is degraded"
		}
		if name == next {
			break
		}
	}
	return "", ""
}

// done is how many of the manifests have been applied.
func (w *world) done() int {
	at := 0
	for _, name := range w.options.Operators {
		if w.versionOf(name) == w.version.Status.Desired.Version {
			at++
		}
	}
	return manifests * at / len(w.options.Operators)
}

// inside makes a message about an operator the end of another sentence.
func inside(message string) string { return "the c" + strings.TrimPrefix(message, "C") }
