package simulator

import (
	"fmt"
	"slices"
	"strings"

	configv1 "github.com/openshift/api/config/v1"
	machinev1 "github.com/openshift/api/machineconfiguration/v1"
	corev1 "k8s.io/api/core/v1"
)

// versionChanges are the changes of a ClusterVersion that matter to a person, a line each.
func versionChanges(before, after *configv1.ClusterVersion) []string {
	var out []string
	if now := after.Status.History[0]; len(before.Status.History) != len(after.Status.History) {
		out = append(out, "ClusterVersion: begins to go to "+now.Version)
	} else if now.State != before.Status.History[0].State {
		out = append(out, fmt.Sprintf("ClusterVersion: %s is %s after %s", now.Version, strings.ToLower(string(now.State)),
			now.CompletionTime.Sub(now.StartedTime.Time)))
	}
	if was, are := available(before), available(after); was != are {
		out = append(out, "ClusterVersion: available updates are "+are+", were "+was)
	}
	return append(out, conditionChanges("ClusterVersion", before.Status.Conditions, after.Status.Conditions)...)
}

func available(v *configv1.ClusterVersion) string {
	names := make([]string, 0, len(v.Status.AvailableUpdates))
	for _, r := range v.Status.AvailableUpdates {
		names = append(names, r.Version)
	}
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

func operatorChanges(before, after *configv1.ClusterOperator) []string {
	var out []string
	if !slices.Equal(before.Status.Versions, after.Status.Versions) {
		for _, v := range after.Status.Versions {
			out = append(out, fmt.Sprintf("ClusterOperator %s: %s is at %s", after.Name, v.Name, v.Version))
		}
	}
	return append(out, conditionChanges("ClusterOperator "+after.Name, before.Status.Conditions, after.Status.Conditions)...)
}

// conditionChanges are the conditions whose status or reason is another one.
func conditionChanges(of string, before, after []configv1.ClusterOperatorStatusCondition) []string {
	var out []string
	for _, c := range after {
		i := slices.IndexFunc(before, func(b configv1.ClusterOperatorStatusCondition) bool { return b.Type == c.Type })
		if i >= 0 && before[i].Status == c.Status && before[i].Reason == c.Reason {
			continue
		}
		out = append(out, strings.TrimSuffix(fmt.Sprintf("%s: %s=%s: %s", of, c.Type, c.Status, c.Message), ": "))
	}
	for _, b := range before {
		if !slices.ContainsFunc(after, func(a configv1.ClusterOperatorStatusCondition) bool { return a.Type == b.Type }) {
			out = append(out, fmt.Sprintf("%s: %s is gone", of, b.Type))
		}
	}
	return out
}

func poolChanges(before, after *machinev1.MachineConfigPool) []string {
	var out []string
	of := "MachineConfigPool " + after.Name
	if b, a := before.Status, after.Status; b.UpdatedMachineCount != a.UpdatedMachineCount || b.UnavailableMachineCount != a.UnavailableMachineCount {
		out = append(out, fmt.Sprintf("%s: %d of %d machines are updated, %d unavailable", of, a.UpdatedMachineCount, a.MachineCount, a.UnavailableMachineCount))
	}
	for _, c := range after.Status.Conditions {
		if poolChanged(before, c) {
			out = append(out, strings.TrimSuffix(fmt.Sprintf("%s: %s=%s: %s", of, c.Type, c.Status, c.Message), ": "))
		}
	}
	return out
}

// poolChanged says that a pool has come into a condition, or is degraded no more.
func poolChanged(before *machinev1.MachineConfigPool, c machinev1.MachineConfigPoolCondition) bool {
	if c.Status != corev1.ConditionTrue && c.Type != machinev1.MachineConfigPoolDegraded {
		return false
	}
	return !slices.ContainsFunc(before.Status.Conditions, func(b machinev1.MachineConfigPoolCondition) bool {
		return b.Type == c.Type && b.Status == c.Status
	})
}
