package kubernetesupgrade

import (
	"k8s.io/apimachinery/pkg/types"

	"refit.dev/refit/api/v1alpha1"
)

// mark is one version of an upgrade. Whoever begins workers writes the upgrade first (claim.TakeTurn), and the API server takes that write from
// nobody who has seen another version than the latest. So where an upgrade still has the version that this manager wrote, or found when it asked
// what is begun, nobody else has begun anything since; and if it has not any more, this manager's next turn is refused. The zero mark is no version.
type mark struct {
	uid     types.UID
	version string
}

func markOf(u *v1alpha1.KubernetesUpgrade) mark { return mark{uid: u.UID, version: u.ResourceVersion} }

// is says whether the upgrade has this version.
func (m mark) is(u *v1alpha1.KubernetesUpgrade) bool { return m != mark{} && m == markOf(u) }
