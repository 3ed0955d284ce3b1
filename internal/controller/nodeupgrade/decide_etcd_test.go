package nodeupgrade

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/observe"
	"refit.dev/refit/internal/snapshot"
)

// controlPlane makes the node a control plane, with others beside it.
func controlPlane(others ...snapshot.Node) change {
	return func(o *Observation) {
		o.Upgrade.Spec.NodeType = v1alpha1.NodeTypeControlPlane
		o.Node.Labels[observe.LabelControlPlane] = ""
		o.EtcdMembers = true
		o.Cluster.Nodes = append(o.Cluster.Nodes, others...)
	}
}

func peer(name string, ready bool) snapshot.Node {
	return snapshot.Node{Name: name, UID: "uid-" + name, ControlPlane: true, Ready: ready}
}

func TestTheCopyOfEtcd(t *testing.T) {
	copied := func(g Gomega, s v1alpha1.NodeUpgradeStatus) {
		g.Expect(meta.IsStatusConditionTrue(s.Conditions, v1alpha1.ConditionEtcdCopied)).To(BeTrue())
	}
	check(t, []decisionTest{
		{"a copy comes before the upgrader Pod", observed(controlPlane(peer("cp-1", true))), expected{action: "CreatePod etcd-backup", phase: v1alpha1.NodeUpgrading, reason: ReasonCopyingEtcd}},
		{"a single control plane goes on, and says where the only copy is", observed(controlPlane()),
			expected{action: "CreatePod upgrader", status: func(g Gomega, s v1alpha1.NodeUpgradeStatus) {
				c := meta.FindStatusCondition(s.Conditions, v1alpha1.ConditionEtcdCopied)
				g.Expect(c.Reason).To(Equal(ReasonSingleControlPlane))
				g.Expect(c.Message).To(ContainSubstring("/var/lib/refit/etcd"))
			}}},
		{"etcd outside the cluster needs no copy", observed(controlPlane(peer("cp-1", true)), func(o *Observation) { o.EtcdMembers = false }), expected{action: "CreatePod upgrader"}},
		{"without a healthy control plane to keep the copy it waits", observed(controlPlane(peer("cp-1", false))), expected{reason: ReasonNoPeer, after: 30 * time.Minute}},
		{"the upgrader Pod follows the copy", observed(underWay, controlPlane(peer("cp-1", true)), pod(RoleEtcdBackup, corev1.PodSucceeded)), expected{action: "CreatePod upgrader", status: copied}},
		{"a copy that failed is tried again", observed(underWay, controlPlane(peer("cp-1", true)), pod(RoleEtcdBackup, corev1.PodFailed, exited(RoleEtcdBackup, v1alpha1.StepBackupEtcd, 1, "no disk"))),
			expected{reason: ReasonRetrying, message: "no disk"}},
		{"a copy that failed three times leaves the node untouched", observed(underWay, controlPlane(peer("cp-1", true)), status(func(s *v1alpha1.NodeUpgradeStatus) { s.Attempts = 2 }),
			pod(RoleEtcdBackup, corev1.PodFailed, exited(RoleEtcdBackup, v1alpha1.StepBackupEtcd, 1, "no disk"))),
			expected{phase: v1alpha1.NodeFailed, reason: ReasonEtcdCopyFailed, message: "the node is untouched"}},
		{"no copy is taken in the middle of the upgrade", observed(underWay, controlPlane(peer("cp-1", true)), status(func(s *v1alpha1.NodeUpgradeStatus) {
			s.Steps = []v1alpha1.StepStatus{{Name: v1alpha1.StepKubeadm, State: v1alpha1.StepFailed, Attempt: 1}}
		})), expected{action: "CreatePod upgrader"}},
	})
}

func TestTheCopyIsTakenFromTheNodeByAnother(t *testing.T) {
	g := NewWithT(t)
	create, ok := Decide(observed(controlPlane(peer("cp-2", true), peer("cp-1", true))), DefaultLimits()).Action.(CreatePod)
	g.Expect(ok).To(BeTrue())
	g.Expect(create.Spec.NodeName).To(Equal("cp-1"))
	g.Expect(create.Spec.NodeUID).To(Equal("uid-cp-1"))
	g.Expect(create.Spec.BackupOf).To(Equal("worker-0"))
	g.Expect(create.Spec.BackupEndpoint).To(Equal("https://10.0.0.11:2379"))
	g.Expect(create.Spec.Validate()).To(Succeed())

	again := observed(controlPlane(peer("cp-2", true), peer("cp-1", true)), status(func(s *v1alpha1.NodeUpgradeStatus) { s.Attempts = 1 }))
	create, ok = Decide(again, DefaultLimits()).Action.(CreatePod)
	g.Expect(ok).To(BeTrue())
	g.Expect(create.Spec.NodeName).To(Equal("cp-2"), "another one is tried after a failure")
}
