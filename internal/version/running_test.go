package version_test

import (
	"testing"

	. "github.com/onsi/gomega"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/snapshot"
	"refit.dev/refit/internal/snapshot/fixture"
	"refit.dev/refit/internal/version"
)

func TestStates(t *testing.T) {
	states := func(c *snapshot.Cluster, target string) map[string]v1alpha1.VersionState {
		out := map[string]v1alpha1.VersionState{}
		for v, s := range version.States(c, target) {
			out[v] = s.State
		}
		return out
	}
	t.Run("a version that runs everywhere is active, and those that it leads to are available", func(t *testing.T) {
		g := NewWithT(t)
		c := fixture.Cluster(1, 1, "v1.35.4")
		g.Expect(states(c, "")).To(Equal(map[string]v1alpha1.VersionState{
			"v1.34.4": v1alpha1.VersionUnavailable, "v1.35.4": v1alpha1.VersionActive, "v1.36.1": v1alpha1.VersionAvailable, "v1.36.3": v1alpha1.VersionAvailable}))
		g.Expect(version.States(c, "")["v1.35.4"].Target).To(BeTrue(), "without an upgrade the active version is the target")
	})
	t.Run("what runs somewhere is partial, during an upgrade its version is the target", func(t *testing.T) {
		g := NewWithT(t)
		c := fixture.Cluster(2, 1, "v1.35.4")
		c.Node("cp-1").Components.Scheduler.Version = "v1.36.3"
		g.Expect(states(c, "v1.36.3")).To(HaveKeyWithValue("v1.35.4", v1alpha1.VersionPartial))
		g.Expect(states(c, "v1.36.3")).To(HaveKeyWithValue("v1.36.3", v1alpha1.VersionPartial))
		g.Expect(version.States(c, "v1.36.3")["v1.36.3"].Target).To(BeTrue())
		g.Expect(version.States(c, "v1.36.3")["v1.35.4"].Target).To(BeFalse())
	})
	t.Run("one old kubelet keeps a version from being active", func(t *testing.T) {
		g := NewWithT(t)
		c := fixture.Cluster(1, 1, "v1.36.3")
		c.Node("w-1").KubeletVersion = "v1.35.4"
		g.Expect(states(c, "")).To(HaveKeyWithValue("v1.36.3", v1alpha1.VersionPartial))
		g.Expect(version.Active(c)).To(BeEmpty())
	})
	t.Run("a control plane's version is the lowest of its three", func(t *testing.T) {
		g := NewWithT(t)
		c := fixture.Cluster(1, 0, "v1.36.3")
		c.Node("cp-1").Components.ControllerManager.Version = "v1.35.4"
		g.Expect(version.ControlPlane(c.Node("cp-1"))).To(Equal("v1.35.4"))
	})
}

func TestAWayStartsFromWhatIsNotThereYet(t *testing.T) {
	g := NewWithT(t)
	c := fixture.Cluster(2, 2, "v1.36.3")
	g.Expect(version.StartsFrom(c, "v1.36.1")).To(Equal("v1.36.3"))
	g.Expect(version.StartsFrom(c, "v1.36.3")).To(Equal("v1.36.3"), "all are there")
	p := c.Node("cp-1").Components
	p.APIServer.Version, p.ControllerManager.Version, p.Scheduler.Version = "v1.36.1", "v1.36.1", "v1.36.1"
	c.Node("cp-1").KubeletVersion = "v1.36.1"
	g.Expect(version.StartsFrom(c, "v1.36.1")).To(Equal("v1.36.3"), "half of a way back is left")
	g.Expect(version.StartsFrom(c, "v1.36.3")).To(Equal("v1.36.1"), "or half of the way forward")
	c.Node("w-1").KubeletVersion = "v1.35.4"
	g.Expect(version.StartsFrom(c, "v1.36.1")).To(Equal("v1.35.4"))
}

func TestForCluster(t *testing.T) {
	for _, tc := range []struct {
		name  string
		given func(*snapshot.Cluster)
		to    string
		want  []string
		says  string
	}{
		{name: "two hops from a cluster of one version", to: "v1.36.3", want: []string{"v1.35.4", "v1.36.3"}},
		{name: "one control plane that is ahead already changes nothing", to: "v1.36.3", want: []string{"v1.35.4", "v1.36.3"},
			given: func(c *snapshot.Cluster) { set(c.Node("cp-1"), "v1.35.4") }},
		{name: "kubelets that are behind are brought up by a single hop", to: "v1.36.3", want: []string{"v1.36.3"},
			given: func(c *snapshot.Cluster) { all(c, "v1.36.3"); c.Node("w-1").KubeletVersion = "v1.35.4" }},
		{name: "an interrupted downgrade goes on", to: "v1.36.1", want: []string{"v1.36.1"},
			given: func(c *snapshot.Cluster) { all(c, "v1.36.3"); set(c.Node("cp-1"), "v1.36.1") }},
		{name: "an upgrade cannot be turned back, and the node that is ahead is named", to: "v1.34.4", says: "node cp-1 runs v1.35.4",
			given: func(c *snapshot.Cluster) { set(c.Node("cp-1"), "v1.35.4") }},
		{name: "a worker that lags too far behind comes to the present version first", to: "v1.36.3", want: []string{"v1.34.4", "v1.35.4", "v1.36.3"},
			given: func(c *snapshot.Cluster) { c.Node("w-1").KubeletVersion = "v1.31.0" }},
		{name: "which has to be known", to: "v1.36.3", says: "kubelet of w-1 runs v1.31.0 and must come to v1.34.4",
			given: func(c *snapshot.Cluster) { c.Node("w-1").KubeletVersion = "v1.31.0"; c.Versions = c.Versions[1:] }},
		{name: "a control plane at a version off the way is refused", to: "v1.36.3", says: "no way from v1.35.9",
			given: func(c *snapshot.Cluster) {
				set(c.Node("cp-2"), "v1.35.9")
				c.Versions[3].Spec.UpgradeFrom = []string{"v1.35.4"}
			}},
		{name: "a control plane that was not seen is named", to: "v1.36.3", says: "node cp-2 could not be read",
			given: func(c *snapshot.Cluster) { c.Node("cp-2").Components = nil }},
		{name: "a cluster without control planes is refused", to: "v1.36.3", says: "no control plane was seen",
			given: func(c *snapshot.Cluster) { c.Nodes = c.Nodes[2:] }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := NewWithT(t)
			c := fixture.Cluster(2, 1, "v1.34.4")
			if tc.given != nil {
				tc.given(c)
			}
			hops, err := version.ForCluster(c, tc.to)
			if tc.says != "" {
				g.Expect(err).To(MatchError(ContainSubstring(tc.says)))
				return
			}
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(hops).To(Equal(tc.want))
		})
	}
}

func set(n *snapshot.Node, v string) {
	n.KubeletVersion = v
	if p := n.Components; p != nil {
		p.APIServer.Version, p.ControllerManager.Version, p.Scheduler.Version = v, v, v
	}
}

func all(c *snapshot.Cluster, v string) {
	for i := range c.Nodes {
		set(&c.Nodes[i], v)
	}
}

func TestSkew(t *testing.T) {
	for _, tc := range []struct {
		name  string
		given func(*snapshot.Cluster)
		says  string
	}{
		{"one version is legal", func(*snapshot.Cluster) {}, ""},
		{"API servers one minor apart are legal", func(c *snapshot.Cluster) { set(c.Node("cp-1"), "v1.36.3") }, ""},
		{"API servers two minors apart are not", func(c *snapshot.Cluster) { set(c.Node("cp-1"), "v1.37.0") }, "at most one minor apart"},
		{"a kubelet three minors older is legal", func(c *snapshot.Cluster) { c.Node("w-1").KubeletVersion = "v1.32.0" }, ""},
		{"a kubelet four minors older is not", func(c *snapshot.Cluster) { c.Node("w-1").KubeletVersion = "v1.31.0" }, "kubelet of w-1 runs v1.31.0, more than three minors older"},
		{"a worker newer than any API server is not", func(c *snapshot.Cluster) { set(c.Node("cp-1"), "v1.36.3"); c.Node("w-1").KubeletVersion = "v1.36.3" }, "newer than API server v1.35.4"},
		{"a control plane's kubelet is measured by its own API server", func(c *snapshot.Cluster) { c.Node("cp-2").KubeletVersion = "v1.36.0" }, "kubelet of cp-2"},
		{"a scheduler newer than its API server is not legal", func(c *snapshot.Cluster) { c.Node("cp-1").Components.Scheduler.Version = "v1.36.3" }, "newer than its API server"},
		{"a controller-manager one minor older is legal", func(c *snapshot.Cluster) { c.Node("cp-1").Components.ControllerManager.Version = "v1.34.4" }, ""},
		{"a controller-manager two minors older is not", func(c *snapshot.Cluster) { c.Node("cp-1").Components.ControllerManager.Version = "v1.33.4" }, "more than one minor older"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := NewWithT(t)
			c := fixture.Cluster(2, 1, "v1.35.4")
			tc.given(c)
			if tc.says == "" {
				g.Expect(version.Skew(c)).To(BeEmpty())
				return
			}
			g.Expect(version.Skew(c)).To(ContainElement(ContainSubstring(tc.says)))
		})
	}
	t.Run("a step is asked about only what it brings", func(t *testing.T) {
		g := NewWithT(t)
		c := fixture.Cluster(2, 1, "v1.35.4")
		g.Expect(version.SkewAfter(c, "cp-1", "v1.36.3")).To(BeEmpty())
		g.Expect(version.SkewAfter(c, "cp-1", "v1.37.0")).NotTo(BeEmpty())
		g.Expect(version.SkewAfter(c, "w-1", "v1.36.3")).To(HaveLen(1))
	})
}
