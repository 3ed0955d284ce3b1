package rollout

import (
	"slices"

	"refit.dev/refit/api/v1alpha1"
)

// chain is the order of the states within one hop.
func (j *journey) chain() []v1alpha1.UpgradeState {
	first := []v1alpha1.UpgradeState{v1alpha1.StateUpgradingFirstMaster, v1alpha1.StateUpgradedFirstMaster}
	networking := []v1alpha1.UpgradeState{v1alpha1.StateUpgradingNetworking, v1alpha1.StateUpgradedNetworking}
	second := []v1alpha1.UpgradeState{v1alpha1.StateUpgradingSecondMaster, v1alpha1.StateUpgradedSecondMaster}
	if len(j.masters.nodes) < 2 {
		second = nil
	}
	if j.plan.Networking == v1alpha1.NetworkingFirst {
		return slices.Concat([]v1alpha1.UpgradeState{v1alpha1.StateUpgradeStarted}, networking, first, second)
	}
	return slices.Concat([]v1alpha1.UpgradeState{v1alpha1.StateUpgradeStarted}, first, networking, second)
}

// passed are the states between the recorded one and the new one: where two observations lie far apart, a state may have come
// and gone between them, and its event is still worth having.
func passed(was v1alpha1.KubernetesUpgradeStatus, now v1alpha1.UpgradeState, j *journey) []v1alpha1.UpgradeState {
	chain := append(j.chain(), v1alpha1.StateUpgradingKubelets, v1alpha1.StateUpgradeComplete)
	from, to := slices.Index(chain, was.State), slices.Index(chain, now)
	switch {
	case was.State == now && was.Hop == j.hop():
		return nil
	case was.State == "" && to >= 0:
		from = -1
	case from < 0 || to < 0:
		return []v1alpha1.UpgradeState{now}
	case was.Hop != "" && was.Hop != j.hop() && from > to:
		masters := chain[:len(chain)-2]
		rest := masters[min(from+1, len(masters)):]
		return append(slices.Clone(rest), chain[1:to+1]...)
	case from >= to:
		return []v1alpha1.UpgradeState{now}
	}
	between := slices.Clone(chain[from+1 : to+1])
	if len(j.workers.nodes) == 0 {
		between = slices.DeleteFunc(between, func(s v1alpha1.UpgradeState) bool { return s == v1alpha1.StateUpgradingKubelets })
	}
	return between
}
