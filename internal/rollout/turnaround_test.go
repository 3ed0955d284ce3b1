package rollout_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/snapshot"
	"refit.dev/refit/internal/version"
)

// A rollback that is aborted at whatever moment can be resumed, and turned around, as often as anybody likes: the cluster comes to a
// working state, and no rule is broken on the way.
func TestRollbacksThatAreAborted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := newHistoryOf(t, "v1.36.1", "v1.36.3")
		h.completes()
		h.turnAround()
		for range rapid.IntRange(1, 4).Draw(t, "aborts") {
			for range rapid.IntRange(5, 120).Draw(t, "length") {
				h.event()
				h.invariants()
			}
			h.aborts()
			if rapid.IntRange(0, 3).Draw(t, "goes on to its end") == 0 {
				h.heal()
				h.completes()
			}
			if h.upgrade.Status.State != v1alpha1.StateUpgradeAborted || rapid.Bool().Draw(t, "turn around") {
				h.turnAround()
				continue
			}
			h.note("the upgrade to %s is resumed", h.upgrade.Spec.ToVersion)
			h.upgrade.Spec.Abort, h.upgrade.Spec.Paused = false, false
			h.upgrade.Spec.Resume++
		}
		h.heal()
		h.completes()
	})
}

// aborts ends the upgrade under way, once its nodes have reached a safe point.
func (h *history) aborts() {
	h.note("the upgrade to %s is aborted", h.upgrade.Spec.ToVersion)
	for range 60 {
		if h.upgrade.Finished() {
			break
		}
		h.heal()
		h.upgrade.Spec.Abort = true
		h.round()
		h.invariants()
	}
	if !h.upgrade.Finished() {
		h.broken("the abort has no end: %s, waiting for %q", h.upgrade.Status.State, h.upgrade.Status.Waiting)
	}
	if at := slices.IndexFunc(h.NodeUpgrades, func(nu *v1alpha1.NodeUpgrade) bool { return h.owns(nu) && !nu.Status.Phase.Ended() }); at >= 0 {
		h.broken("aborted, but %s is %s", h.NodeUpgrades[at].Name, h.NodeUpgrades[at].Status.Phase)
	}
}

// turnAround has an upgrade to the other version follow.
func (h *history) turnAround() {
	to := map[string]string{"v1.36.1": "v1.36.3", "v1.36.3": "v1.36.1"}[h.upgrade.Spec.ToVersion]
	h.note("the upgrade to %s is turned around", h.upgrade.Spec.ToVersion)
	h.follow(to)
	h.seen = []*snapshot.Cluster{h.observe()} // that an upgrade has ended is said of nodes that were seen so, and no cache goes back
}

// whole checks that a cluster is in a working state: at one version, and nothing of Refit's left over.
func (h *history) whole() {
	for i := range h.Nodes {
		n := &h.Nodes[i]
		if !version.Runs(n, h.upgrade.Spec.ToVersion) {
			h.broken("complete, but %s is at %s", n.Name, version.OfNode(n))
		}
		if n.CordonedBy != "" {
			h.broken("complete, but %s is cordoned by %s", n.Name, n.CordonedBy)
		}
	}
	if h.Kubeadm.KubernetesVersion != h.upgrade.Spec.ToVersion {
		h.broken("complete, but kubeadm's configuration is of %s", h.Kubeadm.KubernetesVersion)
	}
	for i := range h.NodeUpgrades {
		if nu := h.NodeUpgrades[i]; !nu.Status.Phase.Ended() {
			h.broken("complete, but %s of %s is %s", nu.Name, nu.Labels[v1alpha1.LabelUpgrade], nu.Status.Phase)
		}
	}
	// Whoever looks again later, at whatever is left of earlier upgrades, begins nothing.
	before := len(h.log)
	for range 5 {
		h.round()
	}
	if len(h.log) > before {
		h.broken("complete, but something is begun")
	}
}
