package simulator

import (
	"fmt"

	configv1 "github.com/openshift/api/config/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// historyKept is how many entries of the history are kept.
const historyKept = 100

// accept looks at what the spec wants, and begins an update, or says why it does not.
func (w *world) accept() {
	status := &w.version.Status
	status.ObservedGeneration = w.version.Generation
	w.retrieve()
	want := w.version.Spec.DesiredUpdate
	if want == nil || names(want, status.Desired) {
		w.admit(nil)
		return
	}
	target, refused := w.resolve(want)
	if refused != nil {
		w.admit(refused)
		return
	}
	w.begin(target)
	w.admit(nil)
	w.retrieve()
}

// admit says in conditions whether what the spec wants is being done.
func (w *world) admit(refused *refusal) {
	c, desired := w.conditions(), w.version.Status.Desired
	if refused == nil {
		c.set(releaseAccepted, true, "PayloadLoaded", fmt.Sprintf("Payload loaded version=%q image=%q architecture=\"amd64\"", desired.Version, desired.Image))
		c.remove(invalid)
		return
	}
	c.set(releaseAccepted, false, refused.reason, refused.message)
	if refused.invalid == "" {
		c.remove(invalid)
		return
	}
	c.set(invalid, true, "InvalidClusterVersion", "The cluster version is invalid: "+refused.invalid)
}

// begin starts towards a release: what was under way before ends here, and stays Partial.
func (w *world) begin(t target) {
	status := &w.version.Status
	if len(status.History) > 0 && status.History[0].CompletionTime == nil {
		status.History[0].CompletionTime = &w.now
	}
	entry := configv1.UpdateHistory{State: configv1.PartialUpdate, StartedTime: w.now, Version: t.release.Version, Image: t.release.Image,
		Verified: t.verified, AcceptedRisks: t.risks}
	status.History = append([]configv1.UpdateHistory{entry}, status.History...)
	if len(status.History) > historyKept {
		status.History = status.History[:historyKept]
	}
	status.Desired, status.VersionHash = t.release, versionHash(t.release)
	c := w.conditions()
	c.set(failing, false, "", "")
	c.set(configv1.OperatorProgressing, true, "", "Working towards "+t.release.Version)
}

// updating says that the cluster is on its way to status.desired.
func (w *world) updating() bool {
	h := w.version.Status.History
	return len(h) > 0 && h[0].State == configv1.PartialUpdate
}

// complete ends the update.
func (w *world) complete() {
	h := &w.version.Status.History[0]
	h.State, h.CompletionTime = configv1.CompletedUpdate, &metav1.Time{Time: w.now.Time}
}
