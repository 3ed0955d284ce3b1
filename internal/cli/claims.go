package cli

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"refit.dev/refit/api/v1alpha1"
)

// mostAtWork is how many nodes at work `refit status` names; `refit nodes` shows all.
const mostAtWork = 5

// claims are the NodeUpgrades of one upgrade.
type claims []v1alpha1.NodeUpgrade

// claimsOf reads them, empty also where they cannot be read: the rest is worth showing.
func claimsOf(ctx context.Context, c client.Reader, upgrade string) claims {
	var list v1alpha1.NodeUpgradeList
	if err := c.List(ctx, &list, client.InNamespace(v1alpha1.Namespace), client.MatchingLabels{v1alpha1.LabelUpgrade: upgrade}); err != nil {
		return nil
	}
	return list.Items
}

// claimsAmong picks them out of those of every upgrade.
func claimsAmong(all []v1alpha1.NodeUpgrade, upgrade string) claims {
	var own claims
	for _, n := range all {
		if n.Labels[v1alpha1.LabelUpgrade] == upgrade {
			own = append(own, n)
		}
	}
	return own
}

// changing are the nodes that have been let go towards a version, and have not ended.
func (c claims) changing(version string) []string {
	var names []string
	for i := range c {
		if c[i].Spec.KubernetesVersion == version && !c[i].Spec.Hold && !c[i].Status.Phase.Ended() {
			names = append(names, c[i].Spec.Machine.Name)
		}
	}
	return names
}

// atWork tells, a line each, what the first nodes at work say of themselves, and how many others there are.
func (c claims) atWork(most int) []string {
	var lines []string
	more := 0
	for i := range c {
		n := &c[i]
		if n.Status.Phase != v1alpha1.NodeStaging && n.Status.Phase != v1alpha1.NodeUpgrading {
			continue
		}
		if len(lines) == most {
			more++
			continue
		}
		line := n.Spec.Machine.Name + " is " + string(n.Status.Phase)
		if ready := meta.FindStatusCondition(n.Status.Conditions, v1alpha1.ConditionReady); ready != nil && ready.Message != "" {
			line += ": " + ready.Message
		}
		lines = append(lines, line)
	}
	if more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more: see `refit nodes`", more))
	}
	return lines
}
