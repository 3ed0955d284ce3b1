package cli

import (
	"context"
	"slices"

	"refit.dev/refit/api/managedupgrade/v1beta1"
	"refit.dev/refit/internal/cli/windows"
)

// configNames are the UpgradeConfigs, each as namespace/name.
func (a *app) configNames(ctx context.Context) ([]string, error) {
	c, err := a.connect()
	if err != nil {
		return nil, err
	}
	var list v1beta1.UpgradeConfigList
	if err := c.List(ctx, &list); err != nil {
		return nil, err
	}
	var names []string
	for i := range list.Items {
		names = append(names, windows.NameOf(&list.Items[i]).String())
	}
	return names, nil
}

// jobNames are the UpgradeJobs, each as namespace/name, the newest first.
func (a *app) jobNames(ctx context.Context) ([]string, error) {
	c, err := a.connect()
	if err != nil {
		return nil, err
	}
	jobs, err := listJobs(ctx, c, "")
	if err != nil {
		return nil, err
	}
	var names []string
	for i := range jobs {
		names = append(names, windows.NameOf(&jobs[i]).String())
	}
	return names, nil
}

// namespaceNames are the namespaces that hold UpgradeConfigs or UpgradeJobs.
func (a *app) namespaceNames(ctx context.Context) ([]string, error) {
	c, err := a.connect()
	if err != nil {
		return nil, err
	}
	known, err := readMaintenance(ctx, c, "")
	if err != nil {
		return nil, err
	}
	var names []string
	for i := range known.configs {
		names = append(names, known.configs[i].Namespace)
	}
	for i := range known.jobs {
		names = append(names, known.jobs[i].Namespace)
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}
