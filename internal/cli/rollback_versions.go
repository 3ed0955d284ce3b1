package cli

import (
	"fmt"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/snapshot"
	"refit.dev/refit/internal/version"
)

// highest is the highest version that anything of Kubernetes runs.
func highest(seen *snapshot.Cluster) string {
	top := ""
	for i := range seen.Nodes {
		n := &seen.Nodes[i]
		for _, v := range []string{n.KubeletVersion, version.ControlPlane(n)} {
			if version.Minor(v) != "" && (top == "" || version.Compare(v, top) > 0) {
				top = v
			}
		}
	}
	return top
}

// latestBack is the highest version that a version may go back to and that is imported, empty where there is none.
func latestBack(seen *snapshot.Cluster, from string) string {
	best := ""
	for i := range seen.Versions {
		v := seen.Versions[i].Spec.Version
		if mayGoBack(seen, from, v) && (best == "" || version.Compare(v, best) > 0) {
			best = v
		}
	}
	return best
}

func mayGoBack(seen *snapshot.Cluster, from, to string) bool {
	_, err := version.Path(from, to, named(seen.Versions, to))
	return err == nil && version.Compare(to, from) < 0
}

// named are the versions, and one more: that a version is not imported is for the forecast to say.
func named(known []v1alpha1.KubernetesVersion, also string) []v1alpha1.KubernetesVersion {
	return append([]v1alpha1.KubernetesVersion{{Spec: v1alpha1.KubernetesVersionSpec{Version: also}}}, known...)
}

func noneBack(seen *snapshot.Cluster, from string) string {
	kv := seen.Version(from)
	switch {
	case kv == nil:
		return fmt.Sprintf("KubernetesVersion %s is not imported, so nothing says where it can go back to", from)
	case len(kv.Spec.DowngradeTo) == 0:
		return fmt.Sprintf("KubernetesVersion %s names no version in spec.downgradeTo", from)
	}
	return fmt.Sprintf("%s can go back to %s, and none of them is imported: `refit bundle import IMAGE`", from, briefly(kv.Spec.DowngradeTo))
}
