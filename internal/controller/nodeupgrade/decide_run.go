package nodeupgrade

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/node/spec"
)

// staging brings everything to the node while spec.hold holds it, and lets staging that has begun end.
func staging(d *decider) bool {
	if d.s.Phase == v1alpha1.NodeUpgrading {
		return false
	}
	held := d.o.Upgrade.Spec.Hold
	if held && d.s.Phase == v1alpha1.NodeStaged {
		return true
	}
	stager := d.o.own(RoleStager)
	if !held && (stager == nil || ended(stager)) {
		return false
	}
	d.s.Phase = v1alpha1.NodeStaging
	d.run(RoleStager, ReasonStaging, func(*corev1.Pod) {
		d.s.Phase, d.s.Attempts, d.s.Interruptions, d.s.Step = v1alpha1.NodeStaged, 0, 0, ""
		d.ready(ReasonStaged, "programs and images are on the node, which waits for its turn")
	})
	return true
}

// copyingEtcd has a copy of this control plane's etcd taken to another one, before anything on this one changes.
func copyingEtcd(d *decider) bool {
	if d.s.Phase != v1alpha1.NodeUpgrading {
		d.s.Phase = v1alpha1.NodeUpgrading
		d.condition(v1alpha1.ConditionUpgraderPodCreated, metav1.ConditionFalse, ReasonWaiting, "it is this node's turn")
	}
	if d.o.Upgrade.Spec.NodeType != v1alpha1.NodeTypeControlPlane || d.s.Touched() ||
		meta.FindStatusCondition(d.s.Conditions, v1alpha1.ConditionEtcdCopied) != nil {
		return false
	}
	switch {
	case !d.o.EtcdMembers:
		d.condition(v1alpha1.ConditionEtcdCopied, metav1.ConditionFalse, ReasonNoEtcdMember, "no etcd member runs on this node")
		return false
	case d.o.controlPlanes() <= 1:
		d.condition(v1alpha1.ConditionEtcdCopied, metav1.ConditionFalse, ReasonSingleControlPlane,
			"there is no other control plane: the only copy of etcd is on this node, in "+spec.EtcdDir)
		return false
	case len(d.o.peers()) == 0 && d.o.Pods[RoleEtcdBackup] == nil:
		d.waitBounded(ReasonNoPeer, "no other control plane is Ready and in service to keep a copy of etcd")
		return true
	}
	copied := false
	d.run(RoleEtcdBackup, ReasonCopyingEtcd, func(pod *corev1.Pod) {
		copied, d.s.Attempts, d.s.Interruptions = true, 0, 0
		d.condition(v1alpha1.ConditionEtcdCopied, metav1.ConditionTrue, ReasonEtcdCopied,
			fmt.Sprintf("a copy of etcd is on node %s%s", pod.Spec.NodeName, said(pod)))
	})
	return !copied
}

func said(pod *corev1.Pod) string {
	for _, c := range containers(pod) {
		if t := c.State.Terminated; t != nil && t.Message != "" {
			return ": " + t.Message
		}
	}
	return ""
}

// upgrading runs every step.
func upgrading(d *decider) bool {
	if pod := d.o.own(RoleUpgrader); pod != nil {
		d.condition(v1alpha1.ConditionUpgraderPodCreated, metav1.ConditionTrue, ReasonPodCreated, "Pod "+pod.Name+" was created")
	}
	d.run(RoleUpgrader, ReasonUpgrading, d.settle)
	return true
}

// settle ends the upgrade once the node itself shows what the last step said.
func (d *decider) settle(pod *corev1.Pod) {
	node, want := d.o.Node, d.o.Upgrade.Spec.KubernetesVersion
	until := endOf(pod).Add(d.l.Settle)
	is := node.Status.NodeInfo.KubeletVersion
	switch {
	case is == want && d.o.nodeReady():
		d.s.Completed, d.s.Step = true, ""
		d.s.Phase = v1alpha1.NodeCompleted
		d.s.FinishedAt = &metav1.Time{Time: d.o.Now}
		d.condition(v1alpha1.ConditionReady, metav1.ConditionTrue, ReasonCompleted, fmt.Sprintf("node %s runs %s", node.Name, want))
	case d.o.Now.Before(until):
		d.wake(until)
		d.ready(ReasonSettling, fmt.Sprintf("every step is done; the node does not show %s and Ready yet", want))
	case is != want:
		d.fail(ReasonVersionMismatch, fmt.Sprintf("every step is done, but the node reports kubelet %s instead of %s: look at the kubelet's unit on it, then %s", is, want, d.retry()))
	default:
		d.fail(ReasonNodeNotReady, fmt.Sprintf("every step is done, but the node is not Ready: %s", d.o.ready().Message))
	}
}

// run sees to the Pod of a role: creates it, follows it, starts it again within limits, and calls done when it succeeded.
func (d *decider) run(role Role, reason string, done func(*corev1.Pod)) {
	pod := d.o.Pods[role]
	switch {
	case pod == nil:
		d.create(role, reason)
	case d.o.own(role) == nil:
		d.foreign(pod)
	default:
		d.watch(role, pod, reason, done)
	}
}

// foreignAfter is when to look again at a Pod of another NodeUpgrade that is in the way.
const foreignAfter = 2 * time.Second

// foreign deals with a Pod of another NodeUpgrade on the same node: what has ended makes room.
func (d *decider) foreign(pod *corev1.Pod) {
	// What becomes of it wakes its own NodeUpgrade, not this one.
	d.wake(d.o.Now.Add(foreignAfter))
	if ended(pod) && pod.DeletionTimestamp == nil {
		d.action = DeletePod{Name: pod.Name, UID: pod.UID}
		return
	}
	d.waitBounded(ReasonNodeBusy, fmt.Sprintf("Pod %s of another NodeUpgrade is at work on the node", pod.Name))
}

// waitBounded waits for something outside the node; the time runs from when the node's turn came.
func (d *decider) waitBounded(reason, message string) {
	since := d.o.Upgrade.CreationTimestamp.Time
	if c := meta.FindStatusCondition(d.s.Conditions, v1alpha1.ConditionUpgraderPodCreated); c != nil {
		since = c.LastTransitionTime.Time
	}
	until := since.Add(d.l.Wait)
	if !d.o.Now.Before(until) {
		d.fail(reason, fmt.Sprintf("%s, for %s: %s when that is seen to", message, duration.HumanDuration(d.l.Wait), d.retry()))
		return
	}
	d.wake(until)
	d.ready(reason, message)
}

func (d *decider) create(role Role, reason string) {
	if d.s.PodUID != "" && d.s.PodUID != d.s.CountedPodUID && d.s.Pod == PodName(d.o.Upgrade.Spec.Machine.Name, role) {
		d.s.CountedPodUID = d.s.PodUID
		d.s.Interruptions++
		if d.tooMany("its Pod was deleted") {
			return
		}
	}
	if d.o.Version == nil {
		d.waitBounded(ReasonVersionUnknown, fmt.Sprintf("there is no KubernetesVersion %s: import its bundle with `refit bundle import`", d.o.Upgrade.Spec.KubernetesVersion))
		return
	}
	d.s.Pod, d.s.PodUID = PodName(d.o.Upgrade.Spec.Machine.Name, role), ""
	if d.s.StartedAt == nil {
		d.s.StartedAt = &metav1.Time{Time: d.o.Now}
	}
	d.ready(reason, "Pod "+d.s.Pod+" is being created")
	d.action = CreatePod{Role: role, Spec: d.spec(role)}
}

func (d *decider) watch(role Role, pod *corev1.Pod, reason string, done func(*corev1.Pod)) {
	d.s.Pod, d.s.PodUID = pod.Name, string(pod.UID)
	d.follow(role, pod)
	v := judge(pod, d.o.Now, d.l, d.deadline(role))
	switch v.outcome {
	case outRunning:
		d.wake(v.due)
		d.ready(reason, d.progress(pod, v))
	case outTerminating:
		d.wake(pod.DeletionTimestamp.Add(d.l.Deletion))
		d.ready(reason, fmt.Sprintf("Pod %s is being deleted; it is created again when it is gone", pod.Name))
	case outSucceeded:
		done(pod)
	default:
		d.ended(role, pod, v)
	}
}

func (d *decider) progress(pod *corev1.Pod, v verdict) string {
	switch {
	case v.step != "":
		return fmt.Sprintf("step %s is running", v.step)
	case v.message != "":
		return v.message
	}
	return fmt.Sprintf("Pod %s is at work", pod.Name)
}

// follow brings steps, conditions and the current step, which is the first that is not done, up to date with a Pod.
func (d *decider) follow(role Role, pod *corev1.Pod) {
	if role == RoleEtcdBackup {
		return // its step is done on another node
	}
	own := stepsOf(role, d.o.Upgrade.Spec.NodeType)
	d.s.Steps = follow(pod, spec.Steps(d.o.Upgrade.Spec.NodeType), d.s.Steps)
	d.s.Step = ""
	for _, s := range d.s.Steps {
		if s.State != v1alpha1.StepSucceeded && d.s.Step == "" && slices.Contains(own, s.Name) {
			d.s.Step = s.Name
		}
		kind := s.Name.Condition()
		switch {
		case kind == "":
		case s.State == v1alpha1.StepSucceeded:
			d.condition(kind, metav1.ConditionTrue, stepReason(s.Name, s.State), s.Message)
		case s.State == v1alpha1.StepPending, meta.IsStatusConditionTrue(d.s.Conditions, kind):
			// What was done stays done while a later attempt makes sure of it.
		default:
			d.condition(kind, metav1.ConditionFalse, stepReason(s.Name, s.State), s.Message)
		}
	}
}

func (d *decider) deadline(role Role) time.Duration {
	if role == RoleEtcdBackup {
		return d.l.EtcdCopy
	}
	s := d.spec(role)
	sum := d.l.Slack
	for _, step := range stepsOf(role, d.o.Upgrade.Spec.NodeType) {
		sum += s.Deadline(step)
	}
	return sum
}
