package metrics

import (
	"context"

	"refit.dev/refit/api/v1alpha1"
)

var (
	upgradeState = own("kubernetesupgrade_state", "1 for the state that a KubernetesUpgrade is in; state is empty before it has started.", "upgrade", "state", "to_version")
	upgradeNodes = own("kubernetesupgrade_nodes", "How many nodes of a KubernetesUpgrade there are: total, upgraded, inProgress, failed, unavailable.", "upgrade", "what")

	kubernetesMetrics = []*metric{upgradeState, upgradeNodes}
)

// kubernetesUpgrades gives the KubernetesUpgrades and, on a cluster that is not OpenShift, whether the cluster is being upgraded.
func (s *scrape) kubernetesUpgrades(ctx context.Context) {
	var list v1alpha1.KubernetesUpgradeList
	if !s.list(ctx, theUpgrades, &list) {
		return
	}
	upgrading := false
	for i := range list.Items {
		u := &list.Items[i]
		upgrading = upgrading || u.Status.StartedAt != nil && !u.Finished()
		s.gauge(upgradeState, 1, u.Name, string(u.Status.State), u.Spec.ToVersion)
		n := u.Status.Nodes
		for what, count := range map[string]int32{"total": n.Total, "upgraded": n.Upgraded, "inProgress": n.InProgress, "failed": n.Failed, "unavailable": n.Unavailable} {
			s.gauge(upgradeNodes, float64(count), u.Name, what)
		}
	}
	if !s.options.OpenShift {
		s.upgrading(upgrading)
	}
}
