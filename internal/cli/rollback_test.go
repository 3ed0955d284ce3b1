package cli

import (
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/types"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/cli/wayback"
	"refit.dev/refit/internal/snapshot"
)

func left(node, from, at string) v1alpha1.NodeUpgrade {
	nu := v1alpha1.NodeUpgrade{}
	nu.UID = types.UID(node + "-" + at)
	nu.Spec.Machine.Name, nu.Spec.KubernetesVersion = node, at
	nu.Status.FromVersion, nu.Status.Completed = from, true
	return nu
}

func TestANodeComesBackByTheUpgradeThatTookItAway(t *testing.T) {
	seen := &snapshot.Cluster{Nodes: []snapshot.Node{{Name: "cp-1", ControlPlane: true, KubeletVersion: "v1.36.3"}, {Name: "w-1", KubeletVersion: "v1.35.4"},
		{Name: "w-2", KubeletVersion: "v1.36.3"}}}
	claims := []v1alpha1.NodeUpgrade{left("cp-1", "v1.35.4", "v1.36.3"), left("cp-1", "v1.34.8", "v1.35.4"), left("w-1", "v1.34.8", "v1.35.4")}

	t.Run("over one minor", func(t *testing.T) {
		NewWithT(t).Expect(hostsOf(seen, claims, "v1.36.3", "v1.35.4")).To(Equal([]wayback.Host{
			{Name: "cp-1", ControlPlane: true, Old: "v1.35.4", State: "/var/lib/refit/upgrades/cp-1-v1.36.3"},
			{Name: "w-1"},
			{Name: "w-2", Old: "v1.35.4", State: "/var/lib/refit/upgrades/UID", Guessed: true},
		}))
	})

	t.Run("over two, of which the second has dropped the programs of the first", func(t *testing.T) {
		NewWithT(t).Expect(hostsOf(seen, claims, "v1.36.3", "v1.34.8")).To(Equal([]wayback.Host{
			{Name: "cp-1", ControlPlane: true, Old: "v1.34.8", State: "/var/lib/refit/upgrades/cp-1-v1.35.4", Dropped: true},
			{Name: "w-1", Old: "v1.34.8", State: "/var/lib/refit/upgrades/w-1-v1.35.4"},
			{Name: "w-2", Old: "v1.34.8", State: "/var/lib/refit/upgrades/UID", Guessed: true},
		}))
	})
}
