package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"

	"refit.dev/refit/api/v1alpha1"
)

// completionTimeout keeps a shell from hanging where the cluster does not answer.
const completionTimeout = 3 * time.Second

type completion func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective)

func (a *app) completeOne(names func(context.Context) ([]string, error)) completion {
	return func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		parent := cmd.Context()
		if parent == nil {
			parent = context.Background()
		}
		ctx, cancel := context.WithTimeout(parent, completionTimeout)
		defer cancel()
		found, err := names(ctx)
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		return found, cobra.ShellCompDirectiveNoFileComp
	}
}

// completeNames completes a flag, whatever the arguments are.
func (a *app) completeNames(names func(context.Context) ([]string, error)) completion {
	one := a.completeOne(names)
	return func(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		return one(cmd, nil, typed)
	}
}

// versionNames are the known Kubernetes versions.
func (a *app) versionNames(ctx context.Context) ([]string, error) {
	c, err := a.connect()
	if err != nil {
		return nil, err
	}
	var list v1alpha1.KubernetesVersionList
	if err := c.List(ctx, &list); err != nil {
		return nil, err
	}
	var names []string
	for _, v := range list.Items {
		names = append(names, v.Spec.Version)
	}
	return names, nil
}

// nodeNames are the nodes of the cluster.
func (a *app) nodeNames(ctx context.Context) ([]string, error) {
	c, err := a.connect()
	if err != nil {
		return nil, err
	}
	var list corev1.NodeList
	if err := c.List(ctx, &list); err != nil {
		return nil, err
	}
	var names []string
	for _, n := range list.Items {
		names = append(names, n.Name)
	}
	return names, nil
}

// planNames are the RolloutPlans.
func (a *app) planNames(ctx context.Context) ([]string, error) {
	c, err := a.connect()
	if err != nil {
		return nil, err
	}
	var list v1alpha1.RolloutPlanList
	if err := c.List(ctx, &list); err != nil {
		return nil, err
	}
	var names []string
	for _, p := range list.Items {
		names = append(names, p.Name)
	}
	return names, nil
}

// upgradeNames are the KubernetesUpgrades, the newest first.
func (a *app) upgradeNames(ctx context.Context) ([]string, error) {
	c, err := a.connect()
	if err != nil {
		return nil, err
	}
	upgrades, err := listUpgrades(ctx, c)
	if err != nil {
		return nil, err
	}
	return upgradeNamesOf(upgrades), nil
}

func upgradeNamesOf(upgrades []v1alpha1.KubernetesUpgrade) []string {
	var names []string
	for i := range upgrades {
		names = append(names, upgrades[i].Name)
	}
	return names
}

// first is the only argument, empty where there is none.
func first(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}
