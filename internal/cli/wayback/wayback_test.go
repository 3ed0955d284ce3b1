package wayback_test

import (
	"os/exec"
	"slices"
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
	g.Expect(all).To(ContainSubstring("snapshot restore /root/x.db --name one --data-dir /data" + cluster + " --initial-advertise-peer-urls https://192.0.2.1:2380 --bump-revision"))
	g.Expect(all).To(ContainSubstring("--name cp-2 --data-dir /var/lib/etcd" + cluster))
	g.Expect(all).To(ContainSubstring("scp -p /root/x.db /root/etcdutl root@192.0.2.1:/root/"))
	g.Expect(all).To(ContainSubstring("/opt/refit/versions/v1.36.3/bin/etcdutl"))
	g.Expect(strings.Count(all, "cp /state/manifests-old")).To(Equal(1), "cp-2 was not changed")

	r.Snapshot = &wayback.Snapshot{Node: "cp-1", File: "/var/lib/refit/etcd/x.db"}
	g.Expect(text(r)).To(ContainSubstring("root@[fd00::2]:/root/"))
	r.Members = nil
	g.Expect(text(r)).NotTo(ContainSubstring("etcdutl"))
	g.Expect(text(r)).To(ContainSubstring("Restore etcd, where it runs, from the backup that you took"))
}

func threeControlPlanes() wayback.Restore {
	r := wayback.Restore{From: "v1.36.3", Replicas: 2, Snapshot: &wayback.Snapshot{Node: "cp-1", File: "/var/lib/refit/etcd/x.db", Before: "v1.36.3"}}
	for _, name := range []string{"cp-1", "cp-2", "cp-3"} {
		r.Hosts = append(r.Hosts, wayback.Host{Name: name, ControlPlane: true, Old: "v1.35.4", State: "/state"})
		r.Members = append(r.Members, wayback.Member{Node: name, Name: name, PeerURL: "https://" + name + ":2380", DataDir: "/var/lib/etcd"})
	}
	r.Hosts = append(r.Hosts, wayback.Host{Name: "w-1", Old: "v1.35.4", State: "/state"}, wayback.Host{Name: "w-2"}, wayback.Host{Name: "w-3", Old: "v1.35.4", State: "/other"})
	return r
}

// where says at which stage a command comes first.
func where(g *WithT, stages []wayback.Stage, command string) int {
	at := slices.IndexFunc(stages, func(s wayback.Stage) bool { return strings.Contains(strings.Join(s.Commands, "\n"), command) })
	g.Expect(at).NotTo(Equal(-1), command)
	return at
}

func TestARestoreGoesOnInAnOrderThatIsSafe(t *testing.T) {
	g := NewWithT(t)
	r := threeControlPlanes()
	stages := r.Stages()
	order := []string{"--replicas=0", "snapshot save", "snapshot status", "scp ", "systemctl stop kubelet", "tasks kill", "snapshot restore", "manifests-old",
		"systemd-run", "systemctl start kubelet", "is-active", "member list", "phase kubelet-config", "--replicas=2"}
	for i := range order[1:] {
		g.Expect(where(g, stages, order[i])).To(BeNumerically("<=", where(g, stages, order[i+1])), "%s before %s", order[i], order[i+1])
	}
	hold := stages[where(g, stages, "systemd-run")]
	g.Expect(hold.On).To(Equal([]string{"cp-1"}))
	g.Expect(hold.Commands[0]).To(ContainSubstring(`"{\"spec\":{\"abort\":true}}"`))
}

func TestWorkersThatComeBackAlikeDoSoTogether(t *testing.T) {
	g := NewWithT(t)
	r := threeControlPlanes()
	var on [][]string
	for _, s := range r.Stages() {
		if strings.HasPrefix(s.Title, "Bring the workers") {
			on = append(on, s.On)
		}
	}
	g.Expect(on).To(Equal([][]string{{"w-1", "w-3"}, {"w-2"}}))
}

func TestProgramsThatAreNoLongerKeptAreAskedFor(t *testing.T) {
	g := NewWithT(t)
	r := threeControlPlanes()
	r.Hosts = []wayback.Host{{Name: "cp-1", ControlPlane: true, Old: "v1.34.8", State: "/state", Dropped: true}}
	g.Expect(text(r)).To(And(ContainSubstring("# kubelet, kubeadm and kubectl v1.34.8 are not kept here any more"), ContainSubstring("kubelet --version | grep -F v1.34.8"),
		Not(ContainSubstring("kubelet.refit-"))))
}

// What is printed is typed into a shell as it is.
func TestEachCommandIsOneOfTheShell(t *testing.T) {
	r := threeControlPlanes()
	for _, s := range r.Stages() {
		for _, command := range s.Commands {
			out, err := exec.CommandContext(t.Context(), "sh", "-n", "-c", command).CombinedOutput()
			NewWithT(t).Expect(err).NotTo(HaveOccurred(), "%s: %s", command, out)
		}
	}
}
