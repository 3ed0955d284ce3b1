package gate

import (
	"fmt"
	"slices"
	"strings"

	"refit.dev/refit/internal/snapshot"
	"refit.dev/refit/internal/version"
)

// removedAPIs wants nobody to have asked for an API that the target no longer serves.
func removedAPIs(_ Point, in Input) Verdict {
	if v, bad := unobserved(in.Cluster, snapshot.PartDeprecatedAPIs); bad {
		return v
	}
	var gone []string
	for _, a := range in.Cluster.DeprecatedAPIs {
		if a.RemovedRelease == "" {
			continue
		}
		removed := "v" + a.RemovedRelease + ".0"
		if _, err := version.Parse(removed); err == nil && version.MinorsApart(removed, in.Target) >= 0 {
			gone = append(gone, fmt.Sprintf("%s (removed in %s)", name(a), a.RemovedRelease))
		}
	}
	slices.Sort(gone)
	gone = slices.Compact(gone)
	if len(gone) > 0 {
		return blocked(gone, "APIs that %s does not serve are still asked for: %s. Move their clients to the newer version (audit logs name them); the count starts anew when the API servers restart",
			in.Target, strings.Join(gone, ", "))
	}
	return ok("no API is in use that %s does not serve", in.Target)
}

func name(a snapshot.DeprecatedAPI) string {
	group := a.Version
	if a.Group != "" {
		group = a.Group + "/" + a.Version
	}
	if a.Subresource != "" {
		return group + " " + a.Resource + "/" + a.Subresource
	}
	return group + " " + a.Resource
}

// webhooks wants no admission webhook in the way of pods that nobody answers for.
func webhooks(_ Point, in Input) Verdict {
	if v, bad := unobserved(in.Cluster, snapshot.PartWebhooks); bad {
		return v
	}
	var dead, single, objects []string
	for _, w := range in.Cluster.Webhooks {
		if !w.FailClosed || w.Service == "" {
			continue
		}
		what := fmt.Sprintf("%s of %s (service %s, for: %s)", w.Name, w.Configuration, w.Service, strings.Join(w.Matches, ", "))
		switch w.ReadyEndpoints {
		case 0:
			dead, objects = append(dead, what), append(objects, w.Configuration)
		case 1:
			single = append(single, what)
		}
	}
	switch {
	case len(dead) > 0:
		return blocked(objects, "nobody answers for webhook %s, and its failurePolicy is Fail: evicted pods would not come back. Repair the service, or delete the configuration",
			few(dead))
	case len(single) > 0:
		return warning(nil, "one pod alone answers for webhook %s: while it moves, no other pod can start", few(single))
	}
	return ok("no webhook is in the way of pods")
}
