package nodeupgrade

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/node/spec"
	"refit.dev/refit/internal/observe"
)

var etcdPod = metav1.ObjectMeta{Name: "etcd-cp-0", Namespace: systemNamespace, Labels: map[string]string{labelComponent: "etcd"}}

var start = time.Date(2026, 11, 21, 3, 0, 0, 0, time.UTC)

const (
	from  = "v1.35.4"
	to    = "v1.36.3"
	image = "refit.dev/bundle@sha256:0000000000000000000000000000000000000000000000000000000000000000"
)

// change makes one thing of an Observation different.
type change func(*Observation)

// observed is worker-0 at the old version, Ready, whose turn has come and for which nothing has been done yet.
func observed(changes ...change) Observation {
	o := Observation{
		Now: start,
		Upgrade: &v1alpha1.NodeUpgrade{
			ObjectMeta: metav1.ObjectMeta{
				Name: "worker-0-" + to, Namespace: v1alpha1.Namespace, UID: "upgrade-1", Generation: 1,
				Finalizers: []string{v1alpha1.Finalizer}, CreationTimestamp: metav1.NewTime(start),
			},
			Spec: v1alpha1.NodeUpgradeSpec{
				Machine:           corev1.ObjectReference{Kind: "Node", Name: "worker-0"},
				KubernetesVersion: to,
				NodeType:          v1alpha1.NodeTypeWorker,
			},
		},
		Node:    node("worker-0", false),
		Version: &v1alpha1.KubernetesVersion{Spec: v1alpha1.KubernetesVersionSpec{Version: to, Image: image}},
		Pods:    map[Role]*corev1.Pod{},
	}
	others := []*corev1.Node{node("worker-1", false)}
	for _, c := range changes {
		c(&o)
	}
	o.Cluster.Now = o.Now
	for _, n := range append(others, o.Node) {
		if n != nil {
			o.Cluster.Nodes = append(o.Cluster.Nodes, observe.Node(n))
		}
	}
	return o
}

func node(name string, controlPlane bool) *corev1.Node {
	n := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID("uid-" + name), Labels: map[string]string{}, Annotations: map[string]string{}},
		Status: corev1.NodeStatus{
			NodeInfo:   corev1.NodeSystemInfo{KubeletVersion: from, ContainerRuntimeVersion: "containerd://2.2.9"},
			Addresses:  []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: "10.0.0.11"}},
			Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(start.Add(-time.Hour))}},
		},
	}
	if controlPlane {
		n.Labels[observe.LabelControlPlane] = ""
		n.Spec.Taints = []corev1.Taint{{Key: observe.LabelControlPlane, Effect: corev1.TaintEffectNoSchedule}}
	}
	return n
}

func at(d time.Duration) change { return func(o *Observation) { o.Now = start.Add(d) } }

func upgradeSpec(set func(*v1alpha1.NodeUpgradeSpec)) change {
	return func(o *Observation) { set(&o.Upgrade.Spec) }
}

func status(set func(*v1alpha1.NodeUpgradeStatus)) change {
	return func(o *Observation) { set(&o.Upgrade.Status) }
}

func readyFor(reason string) change {
	return status(func(s *v1alpha1.NodeUpgradeStatus) {
		s.Conditions = append(s.Conditions, metav1.Condition{Type: v1alpha1.ConditionReady, Status: metav1.ConditionFalse, Reason: reason, LastTransitionTime: metav1.NewTime(start)})
	})
}

func phase(p v1alpha1.NodeUpgradePhase) change {
	return status(func(s *v1alpha1.NodeUpgradeStatus) { s.Phase, s.NodeUID, s.FromVersion = p, "uid-worker-0", from })
}

// underWay is worker-0 with its upgrader Pod created.
func underWay(o *Observation) {
	phase(v1alpha1.NodeUpgrading)(o)
	o.Upgrade.Status.StartedAt = ptr.To(metav1.NewTime(start))
	o.Upgrade.Status.Conditions = append(o.Upgrade.Status.Conditions, metav1.Condition{
		Type: v1alpha1.ConditionUpgraderPodCreated, Status: metav1.ConditionTrue, Reason: ReasonPodCreated, LastTransitionTime: metav1.NewTime(start)})
}

func onNode(set func(*corev1.Node)) change { return func(o *Observation) { set(o.Node) } }

func nodeIs(s corev1.ConditionStatus, since time.Duration) change {
	return onNode(func(n *corev1.Node) {
		n.Status.Conditions[0].Status, n.Status.Conditions[0].LastTransitionTime = s, metav1.NewTime(start.Add(since))
	})
}

func cordonedBy(uid string) change {
	return onNode(func(n *corev1.Node) {
		n.Spec.Unschedulable = true
		n.Annotations[v1alpha1.AnnotationCordonedBy] = uid
	})
}

// pod adds a Pod of this NodeUpgrade; its containers succeeded up to a step, which is in the state given.
func pod(role Role, p corev1.PodPhase, steps ...change) change {
	return func(o *Observation) {
		o.Pods[role] = &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{
				Name: PodName(o.Upgrade.Spec.Machine.Name, role), Namespace: v1alpha1.Namespace, UID: types.UID("pod-" + role), CreationTimestamp: metav1.NewTime(start),
				OwnerReferences: []metav1.OwnerReference{{UID: o.Upgrade.UID, Controller: ptr.To(true)}},
			},
			Spec:   corev1.PodSpec{NodeName: o.Upgrade.Spec.Machine.Name},
			Status: corev1.PodStatus{Phase: p},
		}
		for _, s := range steps {
			s(o)
		}
	}
}

func seen(role Role) change {
	return func(o *Observation) {
		o.Upgrade.Status.Pod, o.Upgrade.Status.PodUID = PodName(o.Upgrade.Spec.Machine.Name, role), "pod-"+string(role)
	}
}

func counted(role Role) change {
	return func(o *Observation) {
		seen(role)(o)
		o.Upgrade.Status.CountedPodUID = "pod-" + string(role)
	}
}

func containerOf(role Role, name string, state corev1.ContainerState) change {
	return func(o *Observation) {
		s := &o.Pods[role].Status
		c := corev1.ContainerStatus{Name: name, Image: image, State: state}
		if name == spec.ReportContainer || role == RoleEtcdBackup {
			s.ContainerStatuses = append(s.ContainerStatuses, c)
			return
		}
		s.InitContainerStatuses = append(s.InitContainerStatuses, c)
	}
}

func running(role Role, step v1alpha1.StepName) change {
	return containerOf(role, string(step), corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(start)}})
}

// withoutSandbox is a Pod whose sandbox is gone since a second after the start.
func withoutSandbox(role Role) change {
	return func(o *Observation) {
		o.Pods[role].Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReadyToStartContainers, Status: corev1.ConditionFalse,
			LastTransitionTime: metav1.NewTime(start.Add(time.Second))}}
	}
}

func exited(role Role, step v1alpha1.StepName, code int32, message string) change {
	return containerOf(role, string(step), corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
		ExitCode: code, Message: message, StartedAt: metav1.NewTime(start), FinishedAt: metav1.NewTime(start.Add(time.Second))}})
}

func waiting(role Role, step v1alpha1.StepName, reason string) change {
	return containerOf(role, string(step), corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: "connection refused"}})
}
