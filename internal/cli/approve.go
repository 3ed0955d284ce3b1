package cli

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/rollout"
)

func newApprove(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "approve GROUP",
		Short: "Let a group of the rollout plan begin that waits for a person",
		Long: `Let a group of the rollout plan begin whose approval is asked for. It may be given before the group's turn comes. It
holds for the upgrade under way, and cannot be taken back: pause or abort the upgrade instead.`,
		Example: `  refit status
  refit approve zone-a`,
		ValidArgsFunction: a.completeOne(a.waitingGroups),
		Args:              one("GROUP", "`refit status` names the groups"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.control(cmd, "", func(ctx context.Context, c client.Client, u *v1alpha1.KubernetesUpgrade) (string, error) {
				return approve(ctx, c, u, args[0])
			})
		},
	}
}

func approve(ctx context.Context, c client.Client, u *v1alpha1.KubernetesUpgrade, group string) (string, error) {
	groups, err := groupsOf(ctx, c, u)
	if err != nil {
		return "", err
	}
	var names []string
	for _, g := range groups {
		names = append(names, g.Name)
	}
	i := slices.Index(names, group)
	switch {
	case i < 0 && len(names) == 0:
		return "", fmt.Errorf("upgrade %s goes by a plan without groups: there is nothing to approve", u.Name)
	case i < 0:
		return "", fmt.Errorf("the plan of upgrade %s has no group %q%s", u.Name, group, suggest(group, names))
	case !groups[i].Approval:
		return fmt.Sprintf("group %s needs no approval", group), nil
	case slices.Contains(u.Spec.ApprovedGroups, group):
		return fmt.Sprintf("group %s was approved already", group), nil
	}
	u.Spec.ApprovedGroups = append(u.Spec.ApprovedGroups, group)
	return fmt.Sprintf("group %s may begin when its turn comes", group), nil
}

// groupsOf are the groups of the plan of an upgrade.
func groupsOf(ctx context.Context, c client.Client, u *v1alpha1.KubernetesUpgrade) ([]v1alpha1.NodeGroup, error) {
	if u.Spec.Plan == "" {
		return rollout.DefaultPlan().Groups, nil
	}
	var p v1alpha1.RolloutPlan
	if err := c.Get(ctx, client.ObjectKey{Name: u.Spec.Plan}, &p); err != nil {
		return nil, fmt.Errorf("read RolloutPlan %s: %w", u.Spec.Plan, err)
	}
	return p.Spec.Groups, nil
}

// waitingGroups are the groups of the upgrade under way that wait for a person.
func (a *app) waitingGroups(ctx context.Context) ([]string, error) {
	c, err := a.connect()
	if err != nil {
		return nil, err
	}
	upgrades, err := listUpgrades(ctx, c)
	if err != nil {
		return nil, err
	}
	var names []string
	if u := unfinished(upgrades); u != nil {
		for _, g := range u.Status.Groups {
			if g.State == v1alpha1.GroupApproval {
				names = append(names, g.Name)
			}
		}
	}
	return names, nil
}
