package task

import "k8s.io/apimachinery/pkg/util/version"

// Minor is the minor number of a version such as v1.36.3, 0 for one that cannot be read.
func Minor(v string) uint {
	parsed, err := version.ParseGeneric(v)
	if err != nil {
		return 0
	}
	return parsed.Minor()
}

// Major is the major number of a version such as v2.2.9, 0 for one that cannot be read.
func Major(v string) uint {
	parsed, err := version.ParseGeneric(v)
	if err != nil {
		return 0
	}
	return parsed.Major()
}

// Older says whether version a is older than b; one that cannot be read is not.
func Older(a, b string) bool {
	va, errA := version.ParseGeneric(a)
	vb, errB := version.ParseGeneric(b)
	return errA == nil && errB == nil && va.LessThan(vb)
}
