package clusterversion

import (
	"cmp"
	"slices"

	"refit.dev/refit/api/managedupgrade/v1beta1"
)

// byAge are the objects that are not being deleted, the oldest first, and those of one second by namespace and name. The first one
// counts.
func byAge(items []v1beta1.ClusterVersion) []*v1beta1.ClusterVersion {
	var out []*v1beta1.ClusterVersion
	for i := range items {
		if items[i].DeletionTimestamp == nil {
			out = append(out, &items[i])
		}
	}
	slices.SortFunc(out, func(a, b *v1beta1.ClusterVersion) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return out
}
