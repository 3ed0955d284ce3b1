package simulator

import (
	"fmt"
	"slices"

	configv1 "github.com/openshift/api/config/v1"
)

// retrieve asks the update service what is above the release that the cluster is at, or on its way to, in the channel of the spec. The
// highest comes first.
func (w *world) retrieve() {
	status, channel := &w.version.Status, w.version.Spec.Channel
	status.AvailableUpdates = nil
	c := w.conditions()
	if channel == "" {
		c.set(retrievedUpdates, false, "NoChannel", "The update channel has not been configured.")
		return
	}
	if !slices.ContainsFunc(w.known, func(r configv1.Release) bool { return inChannel(r, channel) }) {
		c.set(retrievedUpdates, false, "VersionNotFound", fmt.Sprintf(
			"Unable to retrieve available updates: currently reconciling cluster version %s not found in the %q channel", status.Desired.Version, channel))
		return
	}
	for _, r := range w.known {
		if !w.withdrawn[r.Version] && inChannel(r, channel) && above(r.Version, status.Desired.Version) {
			status.AvailableUpdates = append(status.AvailableUpdates, r)
		}
	}
	slices.SortFunc(status.AvailableUpdates, func(a, b configv1.Release) int {
		if above(a.Version, b.Version) {
			return -1
		}
		return 1
	})
	c.set(retrievedUpdates, true, "", "")
}

func (w *world) conditions() conditions {
	return conditions{list: &w.version.Status.Conditions, now: w.now}
}
