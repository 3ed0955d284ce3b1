package gate

import (
	"fmt"
	"slices"
	"strings"

	"refit.dev/refit/api/managedupgrade/v1beta1"
	"refit.dev/refit/internal/snapshot"
)

// The names of the checks that an UpgradeJob's health check asks for (seed: openshift-upgrade-controller).
const (
	CriticalAlerts   = "critical-alerts"
	ClusterOperators = "cluster-operators"
	CustomQuery      = "custom-query"
)

// Health evaluates a health check. What could not be observed is closed.
func Health(check v1beta1.UpgradeJobHealthCheck, seen snapshot.Health) []Verdict {
	var out []Verdict
	if check.CheckCriticalAlerts {
		out = append(out, named(CriticalAlerts, criticalAlerts(check, seen)))
	}
	if check.ChecksOperators() && !seen.NoOperators {
		out = append(out, named(ClusterOperators, clusterOperators(check, seen)))
	}
	for _, a := range seen.Queries {
		out = append(out, named(CustomQuery, customQuery(a)))
	}
	return out
}

func named(name string, v Verdict) Verdict {
	v.Gate = name
	return v
}

func criticalAlerts(check v1beta1.UpgradeJobHealthCheck, seen snapshot.Health) Verdict {
	if seen.AlertsProblem != "" {
		return Verdict{Level: Unknown, Message: "alerts could not be asked for, so this counts as closed: " + seen.AlertsProblem}
	}
	var firing []string
	ignored := 0
	for _, a := range seen.Alerts {
		excluded := slices.ContainsFunc(check.ExcludeAlerts, func(e v1beta1.ExcludedAlert) bool { return e.Alertname == a.Name })
		if excluded || a.Namespace != "" && slices.Contains(check.ExcludeNamespaces, a.Namespace) {
			ignored++
			continue
		}
		name := a.Name
		if a.Namespace != "" {
			name += " in " + a.Namespace
		}
		firing = append(firing, name)
	}
	slices.Sort(firing)
	firing = slices.Compact(firing)
	if len(firing) > 0 {
		return blocked(firing, "critical alerts fire: %s. End what they tell of, or name them in excludeAlerts or excludeNamespaces", few(firing))
	}
	if ignored > 0 {
		return ok("no critical alert fires but %d excluded", ignored)
	}
	return ok("no critical alert fires")
}

func clusterOperators(check v1beta1.UpgradeJobHealthCheck, seen snapshot.Health) Verdict {
	if seen.OperatorsProblem != "" {
		return Verdict{Level: Unknown, Message: "cluster operators could not be read, so this counts as closed: " + seen.OperatorsProblem}
	}
	var bad, names []string
	for _, o := range seen.Operators {
		if slices.Contains(check.ExcludeOperators, o.Name) {
			continue
		}
		var why []string
		if o.Degraded != "" {
			why = append(why, "is degraded: "+o.Degraded)
		}
		if o.Unavailable != "" {
			why = append(why, "is not available: "+o.Unavailable)
		}
		if len(why) > 0 {
			bad, names = append(bad, o.Name+" "+strings.Join(why, ", ")), append(names, o.Name)
		}
	}
	if len(bad) > 0 {
		return blocked(names, "cluster operator %s", few(bad))
	}
	return ok("%s, none degraded", plural(len(seen.Operators), "cluster operator"))
}

func customQuery(a snapshot.Answer) Verdict {
	switch {
	case a.Problem != "":
		return Verdict{Level: Unknown, Objects: []string{a.Query}, Message: fmt.Sprintf("query %s got no answer, so this counts as closed: %s", a.Query, a.Problem)}
	case a.Total > 0:
		return blocked([]string{a.Query}, "query %s returned %s, and a query that returns anything is unhealthy: %s", a.Query, plural(a.Total, "result"), few(a.Results))
	}
	return ok("query %s returned nothing", a.Query)
}
