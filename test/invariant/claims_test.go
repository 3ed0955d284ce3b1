package invariant

import (
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"refit.dev/refit/api/v1alpha1"
)

func node(name, kubelet string, worker, ready, cordoned bool) corev1.Node {
	n := corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{}}, Spec: corev1.NodeSpec{Unschedulable: cordoned}}
	if !worker {
		n.Labels[controlPlaneLabel] = ""
	}
	n.Status.NodeInfo.KubeletVersion = kubelet
	status := corev1.ConditionFalse
	if ready {
		status = corev1.ConditionTrue
	}
	n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: status}}
	return n
}

func pod(component, on, image string, ready bool) corev1.Pod {
	p := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: component + "-" + on, Labels: map[string]string{"component": component}},
		Spec: corev1.PodSpec{NodeName: on, Containers: []corev1.Container{{Image: image}}}}
	status := corev1.ConditionFalse
	if ready {
		status = corev1.ConditionTrue
	}
	p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: status}}
	return p
}

func server(on, version string) corev1.Pod {
	return pod("kube-apiserver", on, "registry.k8s.io/kube-apiserver:"+version, true)
}

func TestWorkersThatAreCordonedOrNotReadyAreOutOfServiceUnlessTheTestBrokeThem(t *testing.T) {
	g := NewWithT(t)
	nodes := []corev1.Node{node("cp", "v1.35.4", false, false, true), node("w1", "v1.35.4", true, true, true),
		node("w2", "v1.35.4", true, false, false), node("w3", "v1.35.4", true, true, false), node("w4", "v1.35.4", true, false, false)}
	g.Expect(outOfService(nodes, map[string]bool{"w4": true})).To(Equal([]string{"w1", "w2"}))
}

func TestSkewIsHeldAgainstThePolicy(t *testing.T) {
	for _, tc := range []struct {
		name    string
		nodes   []corev1.Node
		servers []corev1.Pod
		illegal bool
	}{
		{"one API server is ahead by a minor", []corev1.Node{node("w", "v1.35.4", true, true, false)}, []corev1.Pod{server("a", "v1.35.4"), server("b", "v1.36.3")}, false},
		{"API servers are two minors apart", nil, []corev1.Pod{server("a", "v1.34.1"), server("b", "v1.36.3")}, true},
		{"a worker is ahead of an API server", []corev1.Node{node("w", "v1.36.3", true, true, false)}, []corev1.Pod{server("a", "v1.35.4"), server("b", "v1.36.3")}, true},
		{"a control plane's kubelet follows its own API server", []corev1.Node{node("b", "v1.36.3", false, true, false)}, []corev1.Pod{server("a", "v1.35.4"), server("b", "v1.36.3")}, false},
		{"a worker is four minors behind", []corev1.Node{node("w", "v1.32.0", true, true, false)}, []corev1.Pod{server("a", "v1.36.3")}, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			NewWithT(t).Expect(len(illegalSkew(tc.nodes, tc.servers)) > 0).To(Equal(tc.illegal))
		})
	}
}

func TestTwoOfThreeMembersDownAreNoQuorumAndASingleMemberMayRestart(t *testing.T) {
	g := NewWithT(t)
	etcd := func(on string, ready bool) corev1.Pod { return pod("etcd", on, "etcd:3.6.8-0", ready) }
	g.Expect(withoutQuorum([]corev1.Pod{etcd("a", true), etcd("b", true), etcd("c", false)})).To(BeEmpty())
	g.Expect(withoutQuorum([]corev1.Pod{etcd("a", true), etcd("b", false), etcd("c", false)})).To(HaveLen(1))
	g.Expect(withoutQuorum([]corev1.Pod{etcd("a", false)})).To(BeEmpty())
}

func TestOnlyOneControlPlaneMayBeInFlight(t *testing.T) {
	upgrade := func(node string, phase v1alpha1.NodeUpgradePhase) v1alpha1.NodeUpgrade {
		u := v1alpha1.NodeUpgrade{Status: v1alpha1.NodeUpgradeStatus{Phase: phase}}
		u.Spec.NodeType, u.Spec.Machine.Name = v1alpha1.NodeTypeControlPlane, node
		return u
	}
	NewWithT(t).Expect(controlPlanesInFlight([]v1alpha1.NodeUpgrade{upgrade("b", v1alpha1.NodeUpgrading), upgrade("a", v1alpha1.NodeUpgrading),
		upgrade("c", v1alpha1.NodeStaged), upgrade("d", v1alpha1.NodeCompleted)})).To(Equal([]string{"a", "b"}))
}

func TestAPersonsCordonThatIsGoneAndEndlessRetriesAreNamed(t *testing.T) {
	g := NewWithT(t)
	g.Expect(uncordoned([]corev1.Node{node("w1", "v1.35.4", true, true, false), node("w2", "v1.35.4", true, true, true)}, []string{"w1", "w2"})).
		To(ConsistOf(ContainSubstring("w1")))
	g.Expect(retriedForEver([]v1alpha1.NodeUpgrade{{Status: v1alpha1.NodeUpgradeStatus{Attempts: 3, Interruptions: 10}},
		{Status: v1alpha1.NodeUpgradeStatus{Attempts: 4}}})).To(HaveLen(1))
}
