package rollout_test

import (
	"slices"
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/gate"
	"refit.dev/refit/internal/rollout"
	"refit.dev/refit/internal/snapshot"
	"refit.dev/refit/internal/snapshot/fixture"
)

func decide(c *snapshot.Cluster, u *v1alpha1.KubernetesUpgrade) rollout.Decision {
	return rollout.Decide(rollout.Input{Cluster: c, Upgrade: u})
}

func kinds(actions []rollout.Action) []rollout.ActionKind {
	var out []rollout.ActionKind
	for _, a := range actions {
		out = append(out, a.Kind)
	}
	return out
}

func ready(s v1alpha1.KubernetesUpgradeStatus) metav1.Condition {
	if c := meta.FindStatusCondition(s.Conditions, v1alpha1.ConditionReady); c != nil {
		return *c
	}
	return metav1.Condition{}
}

func TestStart(t *testing.T) {
	type cluster = *snapshot.Cluster
	type upgrade = *v1alpha1.KubernetesUpgrade
	for _, tc := range []struct {
		name    string
		given   func(c cluster, u upgrade)
		state   v1alpha1.UpgradeState
		reason  string
		message string
	}{
		{"an unknown version fails, and says how to import it", func(_ cluster, u upgrade) { u.Spec.ToVersion = "v1.36.9" },
			v1alpha1.StateUpgradeFailed, rollout.ReasonUnknownVersion, "refit bundle import"},
		{"a skipped minor fails, and names the missing one", func(c cluster, _ upgrade) { c.Versions = slices.Delete(c.Versions, 1, 2); allAt(c, "v1.34.4") },
			v1alpha1.StateUpgradeFailed, rollout.ReasonNoPath, "v1.35"},
		{"a downgrade that is not allowed fails, and says what is", func(c cluster, u upgrade) { allAt(c, "v1.36.3"); u.Spec.ToVersion = "v1.35.4" },
			v1alpha1.StateUpgradeFailed, rollout.ReasonDowngrade, "v1.36.1"},
		{"a plan that does not exist fails", func(_ cluster, u upgrade) { u.Spec.Plan = "none" },
			v1alpha1.StateUpgradeFailed, rollout.ReasonUnknownPlan, "RolloutPlan none"},
		{"a gate that does not exist fails, and lists those that do", func(_ cluster, u upgrade) { u.Spec.ExcludedGates = []string{"ectd"} },
			v1alpha1.StateUpgradeFailed, rollout.ReasonUnknownGate, "control-plane-pods"},
		{"a second upgrade waits for the first", func(c cluster, _ upgrade) {
			first := fixture.Upgrade("v1.36.1")
			first.Name, first.Status.StartedAt, first.Status.State = "first", &metav1.Time{Time: fixture.Now}, v1alpha1.StateUpgradingKubelets
			c.Upgrades = append(c.Upgrades, *first)
		}, "", rollout.ReasonAnotherUpgrade, "upgrade first is not finished"},
		{"a closed gate is waited for, and named", func(c cluster, _ upgrade) { c.Etcd.Members[1].Healthy = false },
			"", rollout.ReasonGatesClosed, "gate etcd: etcd member cp-2 is not healthy"},
		{"what cannot be observed is waited for", func(c cluster, _ upgrade) {
			c.Unobserved = map[snapshot.Part]string{snapshot.PartWebhooks: "forbidden"}
		},
			"", rollout.ReasonGatesClosed, "could not be observed"},
		{"a control plane that cannot be seen is waited for", func(c cluster, _ upgrade) { c.Node("cp-3").Components = nil },
			"", rollout.ReasonUnobserved, "cp-3"},
		{"a cluster that is not kubeadm's is refused", func(c cluster, _ upgrade) { c.Kubeadm.Found = false },
			"", rollout.ReasonGatesClosed, "not a kubeadm cluster"},
		{"a pause before the start starts nothing", func(_ cluster, u upgrade) { u.Spec.Paused = true },
			"", rollout.ReasonPaused, "paused"},
		{"an abort before the start ends it", func(_ cluster, u upgrade) { u.Spec.Abort = true },
			v1alpha1.StateUpgradeAborted, rollout.ReasonAborted, "before anything was done"},
		{"a version that runs everywhere is complete at once", func(c cluster, _ upgrade) { allAt(c, "v1.36.3") },
			v1alpha1.StateUpgradeComplete, rollout.ReasonComplete, "5 nodes run v1.36.3"},
		{"all is well, so it starts", func(cluster, upgrade) {},
			v1alpha1.StateUpgradingFirstMaster, rollout.ReasonUpgrading, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := NewWithT(t)
			c, u := fixture.Cluster(3, 2, "v1.35.4"), fixture.Upgrade("v1.36.3")
			tc.given(c, u)
			d := decide(c, u)
			g.Expect(d.Status.State).To(Equal(tc.state))
			g.Expect(ready(d.Status).Reason).To(Equal(tc.reason))
			g.Expect(ready(d.Status).Message).To(ContainSubstring(tc.message))
			if tc.reason != rollout.ReasonUpgrading {
				g.Expect(d.Actions).To(BeEmpty(), "nothing is changed")
			}
		})
	}
}

func allAt(c *snapshot.Cluster, v string) {
	for i := range c.Nodes {
		n := &c.Nodes[i]
		n.KubeletVersion = v
		if p := n.Components; p != nil {
			p.APIServer.Version, p.ControllerManager.Version, p.Scheduler.Version = v, v, v
		}
	}
	c.Kubeadm.KubernetesVersion = v
}

// underWay is a world whose control planes are done and whose first worker is in flight.
func underWay(t *testing.T, workers int) *world {
	t.Helper()
	w := newWorld(fixture.Cluster(1, workers, "v1.35.4"), fixture.Upgrade("v1.36.3"))
	NewWithT(t).Expect(w.until(60, func() bool { nu := w.claim("w-1-v1.36.3"); return nu != nil && nu.Status.Step == v1alpha1.StepKubeadm })).To(BeTrue())
	return w
}

func TestUnderWay(t *testing.T) {
	t.Run("a skipped node does not stop the others, but the upgrade does not call itself complete", func(t *testing.T) {
		g, w := NewWithT(t), underWay(t, 2)
		w.claim("w-1-v1.36.3").Status.Phase = v1alpha1.NodeSkipped
		w.claim("w-1-v1.36.3").Status.Step = v1alpha1.StepDrain
		g.Expect(w.until(30, func() bool { return w.upgrade.Status.State == v1alpha1.StateUpgradeFailed })).To(BeTrue())
		g.Expect(ready(w.upgrade.Status).Reason).To(Equal(rollout.ReasonNodesSkipped))
		g.Expect(w.Node("w-2").KubeletVersion).To(Equal("v1.36.3"))
		w.upgrade.Spec.Resume++
		g.Expect(w.until(30, w.complete)).To(BeTrue(), "resume tries the skipped node again")
	})
	t.Run("a worker that is lost counts as out, and another waits for it, by name", func(t *testing.T) {
		g, w := NewWithT(t), underWay(t, 3)
		w.Node("w-1").Ready = false
		for range 10 {
			w.round()
		}
		g.Expect(w.claim("w-2-v1.36.3").Spec.Hold).To(BeTrue())
		note := noteOf(w.last, "w-2")
		g.Expect(note.Reason).To(Equal("at most 1 may be out of service, and w-1 is"))
	})
	t.Run("a node that is gone fails nothing", func(t *testing.T) {
		g, w := NewWithT(t), underWay(t, 2)
		w.Nodes = slices.DeleteFunc(w.Nodes, func(n snapshot.Node) bool { return n.Name == "w-1" })
		w.claim("w-1-v1.36.3").Status.Phase = v1alpha1.NodeFailed
		g.Expect(w.until(30, w.complete)).To(BeTrue())
	})
	t.Run("a node that came back under the same name is another one, and is upgraded", func(t *testing.T) {
		g, w := NewWithT(t), underWay(t, 2)
		w.claim("w-1-v1.36.3").Status.Phase = v1alpha1.NodeFailed
		n := w.Node("w-1")
		n.UID, n.KubeletVersion, n.Cordoned, n.CordonedBy = "another", "v1.35.4", false, ""
		var did []rollout.ActionKind
		w.onAction = func(a rollout.Action, _ *snapshot.Cluster) {
			if a.Node == "w-1" {
				did = append(did, a.Kind)
			}
		}
		g.Expect(w.until(30, w.complete)).To(BeTrue())
		g.Expect(did).To(Equal([]rollout.ActionKind{rollout.Forget, rollout.Stage, rollout.Start}))
	})
	t.Run("a node that joins at the old version is upgraded too", func(t *testing.T) {
		g, w := NewWithT(t), underWay(t, 1)
		late := fixture.Cluster(0, 1, "v1.35.4").Nodes[0]
		late.Name, late.UID = "w-9", "uid-w-9"
		w.Nodes = append(w.Nodes, late)
		g.Expect(w.until(40, w.complete)).To(BeTrue())
		g.Expect(w.Node("w-9").KubeletVersion).To(Equal("v1.36.3"))
	})
	t.Run("somebody else's NodeUpgrade on a worker is respected", func(t *testing.T) {
		g, w := NewWithT(t), underWay(t, 2)
		other := &v1alpha1.NodeUpgrade{ObjectMeta: metav1.ObjectMeta{Name: "by-hand"}}
		other.Spec.Machine.Name, other.Spec.KubernetesVersion = "w-2", "v1.36.1"
		other.Status.Phase = v1alpha1.NodeUpgrading
		w.NodeUpgrades = append(w.NodeUpgrades, other)
		d := decide(w.observe(), w.upgrade)
		g.Expect(noteOf(d, "w-2").State).To(Equal(rollout.NodeInFlight))
		g.Expect(noteOf(d, "w-2").Reason).To(ContainSubstring("by-hand"))
	})
	t.Run("a version that is deleted meanwhile holds the upgrade up", func(t *testing.T) {
		g, w := NewWithT(t), underWay(t, 2)
		w.Versions = w.Versions[:3]
		d := decide(w.observe(), w.upgrade)
		g.Expect(d.Actions).To(BeEmpty())
		g.Expect(d.Status.Waiting).To(ContainSubstring("there no more"))
	})
	t.Run("a failing webhook holds further workers up, and opens the gate again when it is repaired", func(t *testing.T) {
		g, w := NewWithT(t), underWay(t, 2)
		w.Webhooks = []snapshot.Webhook{{Configuration: "ValidatingWebhookConfiguration/policy", Name: "pods.policy", FailClosed: true, Service: "policy/hook", Matches: []string{"create pods"}}}
		for range 10 {
			w.round()
		}
		g.Expect(w.claim("w-2-v1.36.3").Spec.Hold).To(BeTrue())
		g.Expect(w.upgrade.Status.Waiting).To(ContainSubstring("pods.policy"))
		g.Expect(meta.IsStatusConditionFalse(w.upgrade.Status.Conditions, v1alpha1.ConditionGatesOpen)).To(BeTrue())
		w.Webhooks = nil
		g.Expect(w.until(30, w.complete)).To(BeTrue())
		g.Expect(meta.IsStatusConditionTrue(w.upgrade.Status.Conditions, v1alpha1.ConditionGatesOpen)).To(BeTrue())
	})
	t.Run("a failed networking step fails the upgrade, and resume runs it again", func(t *testing.T) {
		g := NewWithT(t)
		c := fixture.Cluster(1, 0, "v1.35.4")
		c.Versions[3].Spec.Networking = &v1alpha1.Networking{}
		w := newWorld(c, fixture.Upgrade("v1.36.3"))
		w.networkingFails = "calico-node is not Ready"
		g.Expect(w.until(20, func() bool { return w.upgrade.Status.State == v1alpha1.StateUpgradeFailed })).To(BeTrue())
		g.Expect(ready(w.upgrade.Status).Reason).To(Equal(rollout.ReasonNetworkingFailed))
		g.Expect(ready(w.upgrade.Status).Message).To(ContainSubstring("calico-node"))
		w.upgrade.Spec.Resume++
		g.Expect(w.until(20, w.complete)).To(BeTrue())
	})
	t.Run("a complete upgrade is decided on no more", func(t *testing.T) {
		g, w := NewWithT(t), underWay(t, 1)
		g.Expect(w.until(30, w.complete)).To(BeTrue())
		w.Node("w-1").KubeletVersion = "v1.35.4"
		d := decide(w.observe(), w.upgrade)
		g.Expect(d.Actions).To(BeEmpty())
		g.Expect(d.Status.State).To(Equal(v1alpha1.StateUpgradeComplete))
	})
}

func noteOf(d rollout.Decision, node string) rollout.NodeNote {
	for _, n := range d.Nodes {
		if n.Node == node {
			return n
		}
	}
	return rollout.NodeNote{}
}

func masters(c *snapshot.Cluster) *v1alpha1.ControlPlaneUpgrade {
	u := &v1alpha1.ControlPlaneUpgrade{ObjectMeta: metav1.ObjectMeta{Name: "masters"}}
	u.Spec.KubernetesVersion = "v1.36.3"
	for i := range c.Nodes {
		if c.Nodes[i].ControlPlane {
			ref := v1alpha1.NodeUpgrade{}.Spec.Machine
			ref.Kind, ref.Name = "Node", c.Nodes[i].Name
			u.Spec.MachinesRequireUpgrade = append(u.Spec.MachinesRequireUpgrade, ref)
		}
	}
	return u
}

func staged(c *snapshot.Cluster, owner string) {
	for i := range c.Nodes {
		nu := &v1alpha1.NodeUpgrade{ObjectMeta: metav1.ObjectMeta{Name: rollout.ClaimName(c.Nodes[i].Name, "v1.36.3"), Labels: map[string]string{v1alpha1.LabelUpgrade: owner}}}
		nu.Spec.Machine.Name, nu.Spec.KubernetesVersion, nu.Spec.Hold, nu.Spec.NodeType = c.Nodes[i].Name, "v1.36.3", true, c.Nodes[i].Type()
		nu.Status.Phase = v1alpha1.NodeStaged
		c.NodeUpgrades = append(c.NodeUpgrades, nu)
	}
}

func TestControlPlanes(t *testing.T) {
	type cluster = *snapshot.Cluster
	for _, tc := range []struct {
		name    string
		given   func(cluster, *v1alpha1.ControlPlaneUpgrade)
		starts  string
		first   bool
		waiting string
	}{
		{"the first one runs upgrade apply", func(cluster, *v1alpha1.ControlPlaneUpgrade) {}, "cp-1", true, ""},
		{"once the configuration is of the version, nobody does", func(c cluster, _ *v1alpha1.ControlPlaneUpgrade) { c.Kubeadm.KubernetesVersion = "v1.36.3" }, "cp-1", false, ""},
		{"nobody is begun while another is in flight", func(c cluster, _ *v1alpha1.ControlPlaneUpgrade) { c.NodeUpgrades[2].Spec.Hold = false }, "", false, "cp-3 is being upgraded"},
		{"nobody is begun while another is in flight, even if its node is not seen", func(c cluster, _ *v1alpha1.ControlPlaneUpgrade) {
			c.NodeUpgrades[2].Spec.Hold = false
			c.Nodes = c.Nodes[:2]
		}, "", false, "cp-3 is being upgraded"},
		{"nobody is begun while an etcd member is down", func(c cluster, _ *v1alpha1.ControlPlaneUpgrade) { c.Etcd.Members[2].Healthy = false }, "", false, "etcd member cp-3 is not healthy"},
		{"no gate that is excluded lets etcd lose its quorum", func(c cluster, u *v1alpha1.ControlPlaneUpgrade) {
			c.Etcd.Members[2].Healthy = false
			u.Spec.ExcludedGates = gate.Names()
			u.Spec.Allowed = &[]string{"cp-1"}
		}, "", false, "etcd would lose its quorum"},
		{"only what is allowed is begun", func(_ cluster, u *v1alpha1.ControlPlaneUpgrade) { u.Spec.Allowed = &[]string{"cp-2"} }, "cp-2", true, ""},
		{"what was left half-way goes first, its own troubles notwithstanding", func(c cluster, u *v1alpha1.ControlPlaneUpgrade) {
			u.Annotations = map[string]string{v1alpha1.AnnotationResume: "1"}
			c.NodeUpgrades[1].Status.Phase = v1alpha1.NodeFailed
			begin(&c.NodeUpgrades[1].Status, v1alpha1.StepKubeadm)
			c.NodeUpgrades[1].Spec.FirstNodeToBeUpgraded = true
			c.Etcd.Members[1].Healthy = false
			c.Node("cp-2").Components.APIServer.Ready = false
		}, "cp-2", true, ""},
		{"paused means that nothing new is begun", func(_ cluster, u *v1alpha1.ControlPlaneUpgrade) { u.Spec.Paused = true }, "", false, "paused"},
		{"a failure stops the others", func(c cluster, _ *v1alpha1.ControlPlaneUpgrade) { c.NodeUpgrades[0].Status.Phase = v1alpha1.NodeFailed }, "", false, "cp-1 failed"},
		{"one that is not Ready is passed over where its gate is excluded", func(c cluster, u *v1alpha1.ControlPlaneUpgrade) {
			c.Node("cp-1").Ready = false
			u.Spec.ExcludedGates = []string{gate.NodesReady}
		}, "cp-2", true, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := NewWithT(t)
			c := fixture.Cluster(3, 0, "v1.35.4")
			u := masters(c)
			staged(c, u.Name)
			tc.given(c, u)
			d := rollout.DecideControlPlane(rollout.ControlPlaneInput{Cluster: c, Upgrade: u})
			g.Expect(d.Status.Waiting).To(ContainSubstring(tc.waiting))
			if tc.starts == "" {
				g.Expect(kinds(d.Actions)).NotTo(ContainElements(rollout.Start))
				g.Expect(kinds(d.Actions)).NotTo(ContainElements(rollout.Retry))
				return
			}
			g.Expect(d.Actions).To(HaveLen(1))
			g.Expect(d.Actions[0].Node).To(Equal(tc.starts))
			g.Expect(d.Actions[0].First).To(Equal(tc.first))
		})
	}
}

func TestHopsFollowEachOther(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(fixture.Cluster(3, 1, "v1.34.4"), fixture.Upgrade("v1.36.3"))
	var seen []string
	for range 100 {
		w.round()
		if s := w.upgrade.Status.Hop + " " + string(w.upgrade.Status.State); len(seen) == 0 || s != seen[len(seen)-1] {
			seen = append(seen, s)
		}
	}
	g.Expect(w.complete()).To(BeTrue())
	g.Expect(seen).To(Equal([]string{
		"v1.35.4 upgrading-first-master", "v1.35.4 upgrading-second-master",
		"v1.36.3 upgrading-first-master", "v1.36.3 upgrading-second-master", "v1.36.3 upgrading-kubelets", "v1.36.3 upgrade-complete",
	}), "a control plane on its way to the second hop does not take the upgrade back to the first")
}
