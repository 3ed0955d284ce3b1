package rollout_test

import (
	"testing"

	. "github.com/onsi/gomega"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/rollout"
	"refit.dev/refit/internal/snapshot"
	"refit.dev/refit/internal/snapshot/fixture"
)

func TestDrains(t *testing.T) {
	for _, tc := range []struct {
		name   string
		node   string
		from   string
		mode   v1alpha1.DrainMode
		given  func(*snapshot.Cluster)
		drains bool
	}{
		{name: "a minor version drains", node: "w-1", from: "v1.35.4", drains: true},
		{name: "a patch release does not", node: "w-1", from: "v1.36.1", drains: false},
		{name: "a patch release does where the plan says Always", node: "w-1", from: "v1.36.1", mode: v1alpha1.DrainAlways, drains: true},
		{name: "a minor version does not where the plan says Never", node: "w-1", from: "v1.35.4", mode: v1alpha1.DrainNever, drains: false},
		{name: "the only node that takes pods is never drained", node: "w-1", from: "v1.35.4", mode: v1alpha1.DrainAlways,
			given: func(c *snapshot.Cluster) { c.Node("w-2").Cordoned = true }, drains: false},
		{name: "another node that is not Ready takes no pods", node: "w-1", from: "v1.35.4",
			given: func(c *snapshot.Cluster) { c.Node("w-2").Ready = false }, drains: false},
		{name: "a new major of containerd drains", node: "w-1", from: "v1.36.1",
			given: func(c *snapshot.Cluster) { c.Node("w-1").RuntimeVersion = "containerd://1.7.20" }, drains: true},
		{name: "a control plane is drained like anything else", node: "cp-1", from: "v1.35.4", drains: true},
		{name: "a node that does not exist is not", node: "w-9", from: "v1.35.4", drains: false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := NewWithT(t)
			c := fixture.Cluster(1, 2, tc.from)
			if tc.given != nil {
				tc.given(c)
			}
			drains, why := rollout.Drains(c, tc.node, "v1.36.3", &v1alpha1.DrainPolicy{Mode: tc.mode})
			g.Expect(drains).To(Equal(tc.drains), why)
			g.Expect(why).NotTo(BeEmpty())
		})
	}
}
