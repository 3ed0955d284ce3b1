package version

import (
	"fmt"
	"slices"

	"refit.dev/refit/api/v1alpha1"
)

// Path is the versions that lead from one version to another, in order, the last being `to`: fewest first, and of those the
// highest patches. Downgrades lead straight to the version. The errors are UnknownError, NoPathError, DowngradeError and
// AlreadyError.
func Path(from, to string, versions []v1alpha1.KubernetesVersion) ([]string, error) {
	known := byVersion(versions)
	if _, err := Parse(to); err != nil {
		return nil, err
	}
	if known[to] == nil {
		return nil, &UnknownError{Version: to, Known: sorted(known)}
	}
	switch c := Compare(from, to); {
	case c == 0:
		return nil, &AlreadyError{Version: to}
	case c > 0:
		if err := downgrade(from, to, known); err != nil {
			return nil, err
		}
		return []string{to}, nil
	}
	if hops := shortest(from, to, known); hops != nil {
		return hops, nil
	}
	return nil, &NoPathError{From: from, To: to, Missing: missing(from, to, known), Allowed: known[to].Spec.UpgradeFrom}
}

// shortest walks backwards from the target, breadth first, until it meets the start; then forwards by the highest versions.
func shortest(from, to string, known map[string]*v1alpha1.KubernetesVersion) []string {
	distance := map[string]int{to: 0}
	layer := []string{to}
	for len(layer) > 0 && !slices.ContainsFunc(layer, func(v string) bool { return step(from, known[v]) }) {
		var next []string
		for _, v := range layer {
			for candidate := range known {
				_, seen := distance[candidate]
				if !seen && Compare(candidate, from) > 0 && step(candidate, known[v]) {
					distance[candidate] = distance[v] + 1
					next = append(next, candidate)
				}
			}
		}
		layer = next
	}
	if len(layer) == 0 {
		return nil
	}
	var hops []string
	at, left := from, distance[layer[0]]
	for ; left >= 0; left-- {
		best := ""
		for v, d := range distance {
			if d == left && step(at, known[v]) && (best == "" || Compare(v, best) > 0) {
				best = v
			}
		}
		hops = append(hops, best)
		at = best
	}
	return hops
}

// step says whether a version may be upgraded to another in one go.
func step(from string, to *v1alpha1.KubernetesVersion) bool {
	apart := MinorsApart(from, to.Spec.Version)
	if Compare(from, to.Spec.Version) >= 0 || apart < 0 || apart > 1 {
		return false
	}
	return slices.ContainsFunc(to.Spec.UpgradeFrom, func(entry string) bool { return names(entry, from) })
}

func downgrade(from, to string, known map[string]*v1alpha1.KubernetesVersion) error {
	var allowed []string
	if kv := known[from]; kv != nil {
		allowed = kv.Spec.DowngradeTo
	}
	if Minor(from) == Minor(to) && slices.Contains(allowed, to) {
		return nil
	}
	return &DowngradeError{From: from, To: to, Allowed: allowed}
}

// missing are the minors above `from`, up to that of `to`, of which no version is known.
func missing(from, to string, known map[string]*v1alpha1.KubernetesVersion) []string {
	start, err := Parse(from)
	if err != nil {
		return nil
	}
	have := map[string]bool{}
	for v := range known {
		have[Minor(v)] = true
	}
	var out []string
	for i := 1; i <= MinorsApart(from, to); i++ {
		if m := fmt.Sprintf("v%d.%d", start.Major(), int(start.Minor())+i); !have[m] {
			out = append(out, m)
		}
	}
	return out
}

func byVersion(versions []v1alpha1.KubernetesVersion) map[string]*v1alpha1.KubernetesVersion {
	m := make(map[string]*v1alpha1.KubernetesVersion, len(versions))
	for i := range versions {
		m[versions[i].Spec.Version] = &versions[i]
	}
	return m
}

func sorted(known map[string]*v1alpha1.KubernetesVersion) []string {
	out := make([]string, 0, len(known))
	for v := range known {
		out = append(out, v)
	}
	Sort(out)
	return out
}
