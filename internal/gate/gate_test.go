package gate_test

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/gate"
	"refit.dev/refit/internal/snapshot"
	"refit.dev/refit/internal/snapshot/fixture"
)

func input(c *snapshot.Cluster) gate.Input {
	return gate.Input{Cluster: c, Target: "v1.36.3", Hop: "v1.36.3", Hops: []string{"v1.36.3"}, Node: "cp-1", MaxUnavailable: 1}
}

func verdict(all []gate.Verdict, name string) gate.Verdict {
	for _, v := range all {
		if v.Gate == name {
			return v
		}
	}
	return gate.Verdict{Gate: "not asked"}
}

func TestAHealthyClusterIsOpenEverywhere(t *testing.T) {
	for _, p := range []gate.Point{gate.BeforeStart, gate.BeforeControlPlane, gate.BeforeWorkers, gate.AfterEnd} {
		t.Run(string(p), func(t *testing.T) {
			g := NewWithT(t)
			all := gate.Evaluate(p, input(fixture.Cluster(3, 2, "v1.35.4")))
			g.Expect(all).NotTo(BeEmpty())
			g.Expect(gate.Summary(all)).To(BeEmpty())
			for _, v := range all {
				g.Expect(v.Level).To(Equal(gate.OK), v.String())
				g.Expect(v.Message).NotTo(BeEmpty())
			}
		})
	}
}

func TestGates(t *testing.T) {
	for _, tc := range []struct {
		name  string
		point gate.Point
		gate  string
		given func(*snapshot.Cluster)
		level gate.Level
		says  string
	}{
		{"a control plane that is not Ready closes", gate.BeforeStart, gate.NodesReady, func(c *snapshot.Cluster) {
			c.Node("cp-2").Ready, c.Node("cp-2").NotReadyReason = false, "Kubelet stopped posting node status."
		}, gate.Blocked, "cp-2 (Kubelet stopped"},
		{"as many workers NotReady as may be out close the start", gate.BeforeStart, gate.NodesReady, func(c *snapshot.Cluster) { c.Node("w-1").Ready = false }, gate.Blocked, "w-1"},
		{"a worker that is NotReady does not hold control planes up", gate.BeforeControlPlane, gate.NodesReady, func(c *snapshot.Cluster) { c.Node("w-1").Ready = false }, gate.OK, "Ready"},
		{"a worker that is NotReady keeps the end open", gate.AfterEnd, gate.NodesReady, func(c *snapshot.Cluster) { c.Node("w-1").Ready = false }, gate.Blocked, "w-1"},
		{"a scheduler that is not Ready is named", gate.BeforeControlPlane, gate.ControlPlanePods, func(c *snapshot.Cluster) {
			c.Node("cp-3").Components.Scheduler = snapshot.Component{Found: true, Message: "CrashLoopBackOff"}
		}, gate.Blocked, "kube-scheduler-cp-3 is not Ready: CrashLoopBackOff"},
		{"a missing static pod is named", gate.BeforeStart, gate.ControlPlanePods, func(c *snapshot.Cluster) { c.Node("cp-3").Components.Etcd.Found = false }, gate.Blocked, "etcd-cp-3 is missing"},
		{"external etcd has no static pod", gate.BeforeStart, gate.ControlPlanePods, func(c *snapshot.Cluster) {
			c.Etcd.External = true
			c.Node("cp-3").Components.Etcd.Found = false
		}, gate.OK, "3 control planes"},
		{"pods that could not be seen close", gate.BeforeStart, gate.ControlPlanePods, func(c *snapshot.Cluster) {
			c.Unobserved = map[snapshot.Part]string{snapshot.PartControlPlanePods: "timeout"}
		}, gate.Unknown, "timeout"},
		{"an unhealthy member closes", gate.BeforeControlPlane, gate.Etcd, func(c *snapshot.Cluster) { c.Etcd.Members[1].Healthy = false }, gate.Blocked, "cp-2"},
		{"a lost quorum says how to recover", gate.BeforeStart, gate.Etcd, func(c *snapshot.Cluster) { c.Etcd.Members[0].Healthy, c.Etcd.Members[1].Healthy = false, false }, gate.Blocked, "cp-1 is not healthy"},
		{"a learner closes", gate.BeforeStart, gate.Etcd, func(c *snapshot.Cluster) { c.Etcd.Members[1].Learner = true }, gate.Blocked, "etcdctl member promote a2"},
		{"an alarm closes, and says what to do", gate.BeforeStart, gate.Etcd, func(c *snapshot.Cluster) { c.Etcd.Alarms = []snapshot.Alarm{{MemberID: "a2", Type: "NOSPACE"}} }, gate.Blocked, "cp-2 raised NOSPACE: compact"},
		{"a full database closes before it raises the alarm", gate.BeforeStart, gate.Etcd, func(c *snapshot.Cluster) { c.Etcd.Members[0].SizeBytes, c.Etcd.Members[0].QuotaBytes = 99, 100 }, gate.Blocked, "quota"},
		{"etcd 3.5 before 3.5.26 is not taken to 3.6", gate.BeforeStart, gate.Etcd, func(c *snapshot.Cluster) { c.Etcd.Members[0].Version = "3.5.21" }, gate.Blocked, "3.5.26"},
		{"two members are warned about", gate.BeforeControlPlane, gate.Etcd, func(c *snapshot.Cluster) { c.Etcd.Members = c.Etcd.Members[:2] }, gate.Warning, "2 members"},
		{"an etcd that was not seen closes", gate.BeforeControlPlane, gate.Etcd, func(c *snapshot.Cluster) { c.Etcd.Members = nil }, gate.Unknown, "no etcd member"},
		{"a certificate that is about to expire closes", gate.BeforeStart, gate.Certificates, func(c *snapshot.Cluster) { c.Certificates[0].NotAfter = c.Now.Add(5 * time.Hour) }, gate.Blocked, "cp-1/apiserver expires in 5 h"},
		{"an expired one says so", gate.BeforeStart, gate.Certificates, func(c *snapshot.Cluster) { c.Certificates[0].NotAfter = c.Now.Add(-time.Hour) }, gate.Blocked, "has expired"},
		{"an authority needs more time", gate.BeforeStart, gate.Certificates, func(c *snapshot.Cluster) { c.Certificates[3].NotAfter = c.Now.AddDate(0, 0, 20) }, gate.Blocked, "certificate ca expires in 20 days"},
		{"disk pressure closes the start", gate.BeforeStart, gate.Disk, func(c *snapshot.Cluster) { c.Node("w-2").DiskPressure = true }, gate.Blocked, "w-2"},
		{"disk pressure on a worker does not hold a control plane up", gate.BeforeControlPlane, gate.Disk, func(c *snapshot.Cluster) { c.Node("w-2").DiskPressure = true }, gate.OK, ""},
		{"a skew that is there already closes the start", gate.BeforeStart, gate.Skew, func(c *snapshot.Cluster) { c.Node("w-2").KubeletVersion = "v1.30.0" }, gate.Blocked, "kubelet of w-2"},
		{"an API that the target removes is named", gate.BeforeStart, gate.RemovedAPIs, func(c *snapshot.Cluster) {
			c.DeprecatedAPIs = []snapshot.DeprecatedAPI{{Group: "flowcontrol.apiserver.k8s.io", Version: "v1beta3", Resource: "flowschemas", RemovedRelease: "1.36"}}
		}, gate.Blocked, "flowcontrol.apiserver.k8s.io/v1beta3 flowschemas (removed in 1.36)"},
		{"one that is removed later is not", gate.BeforeStart, gate.RemovedAPIs, func(c *snapshot.Cluster) {
			c.DeprecatedAPIs = []snapshot.DeprecatedAPI{{Version: "v1", Resource: "endpoints", RemovedRelease: "1.37"}, {Version: "v1", Resource: "componentstatuses"}}
		}, gate.OK, ""},
		{"a webhook that nobody answers closes", gate.BeforeWorkers, gate.Webhooks, func(c *snapshot.Cluster) { c.Webhooks = []snapshot.Webhook{hook(0)} }, gate.Blocked, "policy/hook"},
		{"a webhook with one pod is warned about", gate.BeforeStart, gate.Webhooks, func(c *snapshot.Cluster) { c.Webhooks = []snapshot.Webhook{hook(1)} }, gate.Warning, "one pod alone"},
		{"a webhook that may be ignored is no trouble", gate.BeforeStart, gate.Webhooks, func(c *snapshot.Cluster) {
			h := hook(0)
			h.FailClosed = false
			c.Webhooks = []snapshot.Webhook{h}
		}, gate.OK, ""},
		{"a cordon that leaves no room is warned about", gate.BeforeStart, gate.InService, func(c *snapshot.Cluster) { c.Node("w-1").Cordoned = true }, gate.Warning, "stay cordoned"},
		{"patches that must be applied are for a person to see to", gate.BeforeStart, gate.Patches, func(c *snapshot.Cluster) {
			c.Versions[3].Spec.AppliedPatches = []string{"PATCH.10"}
		}, gate.Blocked, "PATCH.10 applied before v1.36.3. Refit cannot see"},
		{"and so are patches that must wait", gate.BeforeStart, gate.Patches, func(c *snapshot.Cluster) {
			c.Versions[3].Spec.AvailablePatches = []string{"KUBE_PATCH.2"}
		}, gate.Blocked, "KUBE_PATCH.2 available, and not applied, before v1.36.3"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := NewWithT(t)
			c := fixture.Cluster(3, 2, "v1.35.4")
			tc.given(c)
			v := verdict(gate.Evaluate(tc.point, input(c)), tc.gate)
			g.Expect(v.Level).To(Equal(tc.level), v.String())
			g.Expect(v.Message).To(ContainSubstring(tc.says))
		})
	}
}

func hook(endpoints int) snapshot.Webhook {
	return snapshot.Webhook{Configuration: "ValidatingWebhookConfiguration/policy", Name: "pods.policy", FailClosed: true,
		Service: "policy/hook", Matches: []string{"create pods"}, ReadyEndpoints: endpoints}
}

func TestQuorum(t *testing.T) {
	down := func(c *snapshot.Cluster, members ...int) {
		for _, m := range members {
			c.Etcd.Members[m].Healthy = false
		}
	}
	for _, tc := range []struct {
		name    string
		members int
		down    []int
		keeps   bool
	}{
		{"of one member, it restarts", 1, nil, true},
		{"of two, both are well", 2, nil, true},
		{"of two, the other is down", 2, []int{1}, false},
		{"of three, all are well", 3, nil, true},
		{"of three, another is down", 3, []int{2}, false},
		{"of three, this one is down", 3, []int{0}, true},
		{"of five, another is down", 5, []int{4}, true},
		{"of five, two others are down", 5, []int{3, 4}, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := fixture.Cluster(tc.members, 0, "v1.35.4")
			down(c, tc.down...)
			NewWithT(t).Expect(gate.KeepsQuorum(&c.Etcd, "cp-1")).To(Equal(tc.keeps))
		})
	}
	t.Run("a member that is not found counts as one that restarts", func(t *testing.T) {
		c := fixture.Cluster(3, 0, "v1.35.4")
		down(c, 0)
		NewWithT(t).Expect(gate.KeepsQuorum(&c.Etcd, "elsewhere")).To(BeFalse())
	})
	t.Run("external etcd is not touched", func(t *testing.T) {
		c := fixture.Cluster(1, 0, "v1.35.4")
		c.Etcd.External = true
		NewWithT(t).Expect(gate.KeepsQuorum(&c.Etcd, "cp-1")).To(BeTrue())
	})
	t.Run("the gate wants one more to spare of five", func(t *testing.T) {
		g := NewWithT(t)
		c := fixture.Cluster(5, 0, "v1.35.4")
		down(c, 4)
		in := input(c)
		in.Excluded = []string{gate.Etcd}
		v := verdict(gate.Evaluate(gate.BeforeControlPlane, in), gate.Etcd)
		g.Expect(v.Level).To(Equal(gate.Blocked))
		g.Expect(v.Open()).To(BeTrue(), "excluded, it still says what it saw")
	})
}

func TestRepairForgivesTheNodeItself(t *testing.T) {
	g := NewWithT(t)
	c := fixture.Cluster(3, 0, "v1.35.4")
	c.Etcd.Members[0].Healthy = false
	c.Node("cp-1").Components.APIServer.Ready = false
	in := input(c)
	g.Expect(gate.Closed(gate.Evaluate(gate.BeforeControlPlane, in))).To(HaveLen(2))
	in.Repair = true
	g.Expect(gate.Summary(gate.Evaluate(gate.BeforeControlPlane, in))).To(BeEmpty())
	c.Etcd.Members[1].Healthy = false
	g.Expect(gate.Summary(gate.Evaluate(gate.BeforeControlPlane, in))).To(ContainSubstring("cp-2"))
}

func TestExclusive(t *testing.T) {
	upgrade := func(name string, state v1alpha1.UpgradeState, started bool) v1alpha1.KubernetesUpgrade {
		u := *fixture.Upgrade("v1.36.3")
		u.Name, u.Status.State = name, state
		if started {
			u.Status.StartedAt = &metav1.Time{Time: fixture.Now}
		}
		return u
	}
	for _, tc := range []struct {
		name  string
		other v1alpha1.KubernetesUpgrade
		want  string
	}{
		{"one that is under way goes first", upgrade("z", v1alpha1.StateUpgradingKubelets, true), "z"},
		{"one that failed half-way holds the cluster", upgrade("z", v1alpha1.StateUpgradeFailed, true), "z"},
		{"one that is complete does not", upgrade("a", v1alpha1.StateUpgradeComplete, true), ""},
		{"one that was aborted does not", upgrade("a", v1alpha1.StateUpgradeAborted, true), ""},
		{"one that was refused does not", upgrade("a", v1alpha1.StateUpgradeFailed, false), ""},
		{"of two that wait, the first by name goes first", upgrade("a", "", false), "a"},
		{"and the other waits", upgrade("z", "", false), ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := fixture.Cluster(1, 0, "v1.35.4")
			c.Upgrades = []v1alpha1.KubernetesUpgrade{upgrade("m", "", false), tc.other}
			NewWithT(t).Expect(gate.Other(c, "m")).To(Equal(tc.want))
		})
	}
}

func TestNames(t *testing.T) {
	g := NewWithT(t)
	g.Expect(gate.Names()).To(ContainElements(gate.Etcd, gate.Webhooks))
	g.Expect(gate.UnknownNames([]string{"etcd", "ectd"})).To(Equal([]string{"ectd"}))
}
