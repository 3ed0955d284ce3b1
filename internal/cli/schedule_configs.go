package cli

import (
	"fmt"
	"strings"

	"refit.dev/refit/api/managedupgrade/v1beta1"
	"refit.dev/refit/internal/cli/windows"
)

// pick are the configs of a name, or all. The name may have its namespace before it.
func pick(name, namespace string, all []v1beta1.UpgradeConfig) ([]v1beta1.UpgradeConfig, error) {
	var found []v1beta1.UpgradeConfig
	var names []string
	for i := range all {
		own := windows.NameOf(&all[i])
		if namespace != "" && own.Namespace != namespace {
			continue
		}
		names = append(names, own.String())
		if name == "" || name == own.Name || name == own.String() {
			found = append(found, all[i])
		}
	}
	switch {
	case len(found) > 0 || name == "" && len(all) == 0:
		return found, nil
	case name != "" && len(names) > 0:
		return nil, fmt.Errorf("there is no UpgradeConfig %q%s; there are %s", name, suggestNamespaced(name, names), strings.Join(names, ", "))
	}
	if name == "" {
		return nil, fmt.Errorf("there is no UpgradeConfig in namespace %s", namespace)
	}
	return nil, fmt.Errorf("there is no UpgradeConfig %q", name)
}

// ofManager says whether a location is that of the manager. It is not known here, and not that of this process.
func ofManager(location string) bool { return location == "" || location == "Local" }

// inManagersZone is the config with UTC, in which Refit's image runs, for the manager's zone.
func inManagersZone(c *v1beta1.UpgradeConfig) *v1beta1.UpgradeConfig {
	if !ofManager(c.Spec.Schedule.Location) {
		return c
	}
	c = c.DeepCopy()
	c.Spec.Schedule.Location = "UTC"
	return c
}

func (a *app) noteManagersZone(configs []v1beta1.UpgradeConfig) {
	var names []string
	for i := range configs {
		if ofManager(configs[i].Spec.Schedule.Location) {
			names = append(names, windows.NameOf(&configs[i]).String())
		}
	}
	if len(names) > 0 {
		a.note("No spec.schedule.location in %s: the manager's zone counts, which is taken to be UTC.", strings.Join(names, ", "))
	}
}
