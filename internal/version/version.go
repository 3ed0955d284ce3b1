// Package version decides which Kubernetes version a cluster runs, which it may be brought to and by which way, and whether
// versions may run beside each other. It is pure.
package version

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	utilversion "k8s.io/apimachinery/pkg/util/version"
)

// Parse reads a version such as v1.36.3.
func Parse(s string) (*utilversion.Version, error) {
	v, err := utilversion.ParseSemantic(s)
	if err != nil {
		return nil, fmt.Errorf("%q is not a Kubernetes version such as v1.36.3: %w", s, err)
	}
	return v, nil
}

// Compare orders two versions as slices.SortFunc wants it. What is no version comes before all that are.
func Compare(a, b string) int {
	va, errA := Parse(a)
	vb, errB := Parse(b)
	switch {
	case errA != nil && errB != nil:
		return cmp.Compare(a, b)
	case errA != nil:
		return -1
	case errB != nil:
		return 1
	case va.LessThan(vb):
		return -1
	case vb.LessThan(va):
		return 1
	}
	return 0
}

// Sort puts versions in ascending order, in place.
func Sort(versions []string) { slices.SortFunc(versions, Compare) }

// Minor is the minor that a version belongs to, e.g. v1.36; empty for what is no version.
func Minor(s string) string {
	v, err := Parse(s)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("v%d.%d", v.Major(), v.Minor())
}

// MinorsApart is how many minors b is above a; negative where it is below. It is an error of the caller's to ask for versions
// that do not parse: 0 is answered. Kubernetes has but one major.
func MinorsApart(a, b string) int {
	va, errA := Parse(a)
	vb, errB := Parse(b)
	if errA != nil || errB != nil {
		return 0
	}
	return int(vb.Minor()) - int(va.Minor())
}

// names says whether an entry of upgradeFrom stands for the version: the version itself, or its minor.
func names(entry, version string) bool {
	if strings.Count(entry, ".") == 1 {
		return entry == Minor(version)
	}
	return Compare(entry, version) == 0
}
