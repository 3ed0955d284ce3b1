package wayback_test

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/cli/wayback"
	"refit.dev/refit/internal/node/controlplane"
	"refit.dev/refit/internal/node/execute"
	"refit.dev/refit/internal/node/spec"
	"refit.dev/refit/internal/node/task"
	"refit.dev/refit/internal/sequence"
)

// The table is that of the steps that there are, and each that says it undoes itself does.
func TestWhatCanBeUndoneIsWhatTheStepsSay(t *testing.T) {
	g := NewWithT(t)
	var names []v1alpha1.StepName
	for _, s := range wayback.Steps {
		names = append(names, s.Step)
		makeStep, err := execute.HostStep(s.Step)
		if err != nil {
			continue // it does not run on the host
		}
		_, undoes := makeStep(&task.Task{}).(sequence.Undoer)
		g.Expect(undoes).To(Equal(s.Undone == wayback.Yes), string(s.Step))
	}
	g.Expect(names).To(Equal(spec.Steps(v1alpha1.NodeTypeControlPlane)))
	var window sequence.Step = controlplane.Window{}
	_, undoes := window.(sequence.Undoer)
	g.Expect(undoes).To(BeTrue(), "the static Pods are put back within step kubeadm")
}

func claim(node, version, from, copied, saved string) v1alpha1.NodeUpgrade {
	nu := v1alpha1.NodeUpgrade{Spec: v1alpha1.NodeUpgradeSpec{Machine: corev1.ObjectReference{Name: node}, KubernetesVersion: version}}
	nu.Status.FromVersion = from
	if copied != "" {
		nu.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionEtcdCopied, Status: metav1.ConditionTrue, Message: copied}}
	}
	if saved != "" {
		nu.Status.Steps = []v1alpha1.StepStatus{{Name: v1alpha1.StepBackupEtcd, State: v1alpha1.StepSucceeded, Message: saved}}
	}
	return nu
}

func TestTheSnapshotOfMostOfTheWayIsChosen(t *testing.T) {
	g := NewWithT(t)
	all := wayback.Snapshots([]v1alpha1.NodeUpgrade{
		claim("cp-2", "v1.36.3", "v1.35.4", "", "snapshot /var/lib/refit/etcd/etcd-cp-2-v1.36.3-b-20261120T100000Z.db: revision 9"),
		claim("cp-1", "v1.36.3", "v1.35.4", "a copy of etcd is on node cp-2: backup-etcd: snapshot /var/lib/refit/etcd/etcd-cp-1-v1.36.3-a-20261120T090000Z.db: revision 7", ""),
		claim("cp-1", "v1.35.4", "v1.34.4", "", "snapshot /var/lib/refit/etcd/etcd-cp-1-v1.35.4-c-20261119T090000Z.db: revision 5"),
		claim("w-1", "v1.36.3", "v1.35.4", "there is no other control plane: the only copy of etcd is on this node, in /var/lib/refit/etcd", "nothing"),
	})
	g.Expect(all).To(HaveLen(3))
	chosen := wayback.Choose(all, "v1.36.3", "")
	g.Expect(chosen.Node).To(Equal("cp-2"))
	g.Expect(chosen.Member).To(Equal("cp-1"))
	g.Expect(wayback.Choose(all, "v1.36.3", "v1.35.0")).To(Equal(chosen))
	g.Expect(wayback.Choose(all, "v1.36.3", "v1.34.4").From).To(Equal("v1.34.4"))
	g.Expect(wayback.Choose(all, "v1.36.3", "v1.33.0")).To(BeNil())
}

func text(r wayback.Restore) string {
	var out strings.Builder
	for _, s := range r.Stages() {
		out.WriteString(s.Title + " on " + strings.Join(s.On, " ") + "\n" + strings.Join(s.Commands, "\n") + "\n")
	}
	return out.String()
}

func TestARestoreNamesEveryMemberAlike(t *testing.T) {
	g := NewWithT(t)
	pod := func(node string, command ...string) corev1.Pod {
		return corev1.Pod{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"component": "etcd"}}, Spec: corev1.PodSpec{NodeName: node, Containers: []corev1.Container{{Command: command}}}}
	}
	address := []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: "fd00::2"}}
	members := wayback.Members([]corev1.Pod{pod("cp-2"), pod("cp-1", "etcd", "--name=one", "--data-dir=/data", "--initial-advertise-peer-urls=https://192.0.2.1:2380")},
		[]corev1.Node{{ObjectMeta: metav1.ObjectMeta{Name: "cp-2"}, Status: corev1.NodeStatus{Addresses: address}}})
	r := wayback.Restore{From: "v1.36.3", Members: members, Replicas: 2, Snapshot: &wayback.Snapshot{Node: "cp-2", File: "/var/lib/refit/etcd/x.db"},
		Hosts: []wayback.Host{{Name: "cp-1", ControlPlane: true, Old: "v1.35.4", State: "/state"}, {Name: "cp-2", ControlPlane: true}, {Name: "w-1"}}}
	all := text(r)
	cluster := " --initial-cluster one=https://192.0.2.1:2380,cp-2=https://[fd00::2]:2380 --initial-cluster-token restored"
	g.Expect(all).To(ContainSubstring("snapshot restore /var/lib/refit/etcd/x.db --name one --data-dir /data" + cluster + " --initial-advertise-peer-urls https://192.0.2.1:2380 --bump-revision"))
	g.Expect(all).To(ContainSubstring("--name cp-2 --data-dir /var/lib/etcd" + cluster))
	g.Expect(all).To(ContainSubstring("scp -p /var/lib/refit/etcd/x.db root@cp-1:/var/lib/refit/etcd/"))
	g.Expect(strings.Count(all, "manifests-old")).To(Equal(1), "cp-2 was not changed")
	r.Members = nil
	g.Expect(text(r)).NotTo(ContainSubstring("etcdutl"))
	g.Expect(text(r)).To(ContainSubstring("Restore etcd, where it runs, from the backup that you took"))
}
