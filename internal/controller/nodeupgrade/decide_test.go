package nodeupgrade

import (
	"reflect"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"refit.dev/refit/api/v1alpha1"
)

// expected is what matters of a Decision; what is left empty is not looked at, except the action.
type expected struct {
	action  string
	phase   v1alpha1.NodeUpgradePhase
	reason  string
	message string
	status  func(Gomega, v1alpha1.NodeUpgradeStatus)
	after   time.Duration
}

type decisionTest struct {
	name string
	seen Observation
	want expected
}

func check(t *testing.T, tests []decisionTest) {
	t.Helper()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g := NewWithT(t)
			before := tt.seen.Upgrade.DeepCopy()
			d := Decide(tt.seen, DefaultLimits())
			g.Expect(tt.seen.Upgrade).To(Equal(before), "Decide must not change what it is given")
			g.Expect(actionName(d.Action)).To(Equal(tt.want.action), "the action; the status is %+v", d.Status)
			if tt.want.phase != "" {
				g.Expect(d.Status.Phase).To(Equal(tt.want.phase))
			}
			ready := meta.FindStatusCondition(d.Status.Conditions, v1alpha1.ConditionReady)
			if tt.want.reason != "" {
				g.Expect(ready).NotTo(BeNil())
				g.Expect(ready.Reason).To(Equal(tt.want.reason), ready.Message)
				g.Expect(ready.Message).To(ContainSubstring(tt.want.message))
			}
			if tt.want.status != nil {
				tt.want.status(g, d.Status)
			}
			if tt.want.after != 0 {
				g.Expect(d.RequeueAfter).To(Equal(tt.want.after))
			}
			expectInvariants(g, tt.seen, d)
		})
	}
}

// expectInvariants holds for every decision.
func expectInvariants(g Gomega, o Observation, d Decision) {
	s := d.Status
	ready := meta.IsStatusConditionTrue(s.Conditions, v1alpha1.ConditionReady)
	g.Expect(ready).To(Equal(s.Completed), "Ready and completed say the same")
	g.Expect(s.Completed).To(Equal(s.Phase == v1alpha1.NodeCompleted))
	g.Expect(s.FinishedAt != nil).To(Equal(s.Phase.Ended()), "an end has a time")
	if o.Upgrade.DeletionTimestamp == nil && !s.Phase.Ended() && s.Phase != v1alpha1.NodeStaged && d.Action == nil && s.Phase != v1alpha1.NodePending {
		g.Expect(d.RequeueAfter).To(BeNumerically(">", 0), "every wait is bounded")
	}
	if _, ok := d.Action.(Uncordon); ok {
		g.Expect(o.Node.Annotations[v1alpha1.AnnotationCordonedBy]).To(Equal(string(o.Upgrade.UID)), "only the own cordon is lifted")
	}
	for _, c := range o.Upgrade.Status.Conditions {
		if c.Status == metav1.ConditionTrue && c.Type != v1alpha1.ConditionUpgraderPodCreated && len(s.Conditions) > 0 {
			g.Expect(meta.IsStatusConditionTrue(s.Conditions, c.Type)).To(BeTrue(), "%s was done and stays done", c.Type)
		}
	}
}

func actionName(a Action) string {
	switch a := a.(type) {
	case nil:
		return ""
	case CreatePod:
		return "CreatePod " + string(a.Role)
	case DeletePod:
		return "DeletePod " + a.Name
	}
	name := reflect.TypeOf(a).String()
	return name[strings.LastIndex(name, ".")+1:]
}

func hold(s *v1alpha1.NodeUpgradeSpec)  { s.Hold = true }
func abort(s *v1alpha1.NodeUpgradeSpec) { s.Abort = true }
func retry(s *v1alpha1.NodeUpgradeSpec) { s.Retry = 1 }

func TestTheBeginning(t *testing.T) {
	check(t, []decisionTest{
		{"the finalizer comes before anything else",
			observed(func(o *Observation) { o.Upgrade.Finalizers = nil }), expected{action: "AddFinalizer"}},
		{"a node whose turn has come gets its upgrader Pod", observed(),
			expected{action: "CreatePod upgrader", phase: v1alpha1.NodeUpgrading, reason: ReasonUpgrading, status: func(g Gomega, s v1alpha1.NodeUpgradeStatus) {
				g.Expect(s.NodeUID).To(Equal("uid-worker-0"))
				g.Expect(s.FromVersion).To(Equal(from))
				g.Expect(s.Pod).To(Equal("worker-0-node-upgrader"))
				g.Expect(s.StartedAt.Time).To(Equal(start))
			}}},
		{"a node that is held is staged", observed(upgradeSpec(hold)), expected{action: "CreatePod stager", phase: v1alpha1.NodeStaging, reason: ReasonStaging}},
		{"a node that does not exist is named",
			observed(func(o *Observation) { o.Node = nil }), expected{phase: v1alpha1.NodeFailed, reason: ReasonNodeNotFound, message: "worker-0"}},
		{"a version that does not exist is named, with the remedy",
			observed(func(o *Observation) { o.Version = nil }), expected{reason: ReasonVersionUnknown, message: "refit bundle import", after: 30 * time.Minute}},
		{"a version that does not come to exist ends the upgrade",
			observed(at(31*time.Minute), underWay, func(o *Observation) { o.Version = nil }), expected{phase: v1alpha1.NodeFailed, reason: ReasonVersionUnknown}},
		{"nothing is started on a node that says nothing",
			observed(nodeIs(corev1.ConditionUnknown, -time.Minute)), expected{reason: ReasonNodeNotReady, after: 19 * time.Minute}},
		{"a node that has said nothing for long is lost",
			observed(nodeIs(corev1.ConditionUnknown, -20*time.Minute)), expected{phase: v1alpha1.NodeFailed, reason: ReasonNodeLost}},
		{"a node that says that it is not ready may need the very Pod",
			observed(underWay, nodeIs(corev1.ConditionFalse, -time.Minute)), expected{action: "CreatePod upgrader"}},
	})
}

func TestStaging(t *testing.T) {
	staged := phase(v1alpha1.NodeStaged)
	check(t, []decisionTest{
		{"a node whose stager succeeded is staged", observed(upgradeSpec(hold), phase(v1alpha1.NodeStaging), pod(RoleStager, corev1.PodSucceeded)),
			expected{phase: v1alpha1.NodeStaged, reason: ReasonStaged}},
		{"while a node is staged its step is one of the staging", observed(upgradeSpec(hold), phase(v1alpha1.NodeStaging), pod(RoleStager, corev1.PodRunning,
			exited(RoleStager, v1alpha1.StepPreflight, 0, ""), exited(RoleStager, v1alpha1.StepCopyBinaries, 0, ""), exited(RoleStager, v1alpha1.StepPullImages, 0, ""))),
			expected{phase: v1alpha1.NodeStaging, status: func(g Gomega, s v1alpha1.NodeUpgradeStatus) {
				g.Expect(s.Step).To(BeEmpty())
				g.Expect(s.Touched()).To(BeFalse())
			}}},
		{"a staged node waits as long as it is held", observed(upgradeSpec(hold), staged, at(1000*time.Hour)), expected{phase: v1alpha1.NodeStaged}},
		{"a staged node goes on when it is released", observed(staged, pod(RoleStager, corev1.PodSucceeded)), expected{action: "CreatePod upgrader", phase: v1alpha1.NodeUpgrading}},
		{"a release while the stager is at work waits for its end", observed(phase(v1alpha1.NodeStaging), pod(RoleStager, corev1.PodRunning, running(RoleStager, v1alpha1.StepPullImages))),
			expected{phase: v1alpha1.NodeStaging, message: "pull-images", reason: ReasonStaging}},
		{"a hold that comes too late changes nothing", observed(upgradeSpec(hold), underWay, pod(RoleUpgrader, corev1.PodRunning, running(RoleUpgrader, v1alpha1.StepKubelet))),
			expected{phase: v1alpha1.NodeUpgrading, message: "kubelet", reason: ReasonUpgrading}},
		{"an image that cannot be pulled is waited for", observed(at(time.Minute), upgradeSpec(hold), phase(v1alpha1.NodeStaging),
			pod(RoleStager, corev1.PodPending, waiting(RoleStager, v1alpha1.StepPreflight, "ImagePullBackOff"))),
			expected{phase: v1alpha1.NodeStaging, reason: ReasonStaging, message: "connection refused", after: 4 * time.Minute}},
		{"an image that cannot be pulled ends the upgrade, and is named", observed(at(5*time.Minute), upgradeSpec(hold), phase(v1alpha1.NodeStaging),
			pod(RoleStager, corev1.PodPending, waiting(RoleStager, v1alpha1.StepPreflight, "ErrImagePull"))),
			expected{phase: v1alpha1.NodeFailed, reason: ReasonImageUnavailable, message: image, status: func(g Gomega, s v1alpha1.NodeUpgradeStatus) {
				g.Expect(meta.FindStatusCondition(s.Conditions, v1alpha1.ConditionReady).Message).To(ContainSubstring("the node is untouched"))
			}}},
		{"the Pod of an ended upgrade does not begin later by itself", observed(at(6*time.Minute), phase(v1alpha1.NodeFailed), finished, readyFor(ReasonImageUnavailable),
			counted(RoleStager), pod(RoleStager, corev1.PodPending)), expected{action: "DeletePod worker-0-node-stager", phase: v1alpha1.NodeFailed}},
		{"a Pod that no kubelet takes up is bounded", observed(at(20*time.Minute), underWay, pod(RoleUpgrader, corev1.PodPending)),
			expected{phase: v1alpha1.NodeFailed, reason: ReasonPodNotStarted, message: "did not start within 20m: "}},
	})
}

func finished(o *Observation) { o.Upgrade.Status.FinishedAt = ptr.To(metav1.NewTime(start)) }

func TestFollowingThePod(t *testing.T) {
	check(t, []decisionTest{
		{"steps and conditions follow the containers", observed(underWay, pod(RoleUpgrader, corev1.PodPending,
			exited(RoleUpgrader, v1alpha1.StepPreflight, 0, "fine"), exited(RoleUpgrader, v1alpha1.StepCopyBinaries, 0, "9 files"), running(RoleUpgrader, v1alpha1.StepPullImages))),
			expected{reason: ReasonUpgrading, message: "step pull-images is running", status: func(g Gomega, s v1alpha1.NodeUpgradeStatus) {
				g.Expect(s.Step).To(Equal(v1alpha1.StepPullImages))
				g.Expect(s.Steps[1].Message).To(Equal("9 files"))
				g.Expect(s.Steps[1].State).To(Equal(v1alpha1.StepSucceeded))
				g.Expect(s.Steps[2].State).To(Equal(v1alpha1.StepRunning))
				g.Expect(s.Steps[2].Attempt).To(Equal(int32(1)))
				g.Expect(s.Steps[3].State).To(Equal(v1alpha1.StepPending))
				g.Expect(meta.IsStatusConditionTrue(s.Conditions, v1alpha1.ConditionBinariesCopied)).To(BeTrue())
				g.Expect(meta.IsStatusConditionFalse(s.Conditions, v1alpha1.ConditionImagesPulled)).To(BeTrue())
				g.Expect(meta.FindStatusCondition(s.Conditions, v1alpha1.ConditionKubeletUpgraded)).To(BeNil())
				g.Expect(meta.IsStatusConditionTrue(s.Conditions, v1alpha1.ConditionUpgraderPodCreated)).To(BeTrue())
			}}},
		{"what was done stays done while a second attempt makes sure of it", observed(underWay, status(func(s *v1alpha1.NodeUpgradeStatus) {
			s.Conditions = append(s.Conditions, metav1.Condition{Type: v1alpha1.ConditionBinariesCopied, Status: metav1.ConditionTrue, Reason: v1alpha1.ConditionBinariesCopied})
		}), pod(RoleUpgrader, corev1.PodPending, running(RoleUpgrader, v1alpha1.StepCopyBinaries))), expected{phase: v1alpha1.NodeUpgrading}},
		{"all steps done and the node at the version completes the upgrade", observed(underWay, kubeletAt(to), pod(RoleUpgrader, corev1.PodSucceeded)),
			expected{phase: v1alpha1.NodeCompleted, reason: ReasonCompleted, message: to}},
		{"all steps done but the old version shown is waited for", observed(underWay, pod(RoleUpgrader, corev1.PodSucceeded)),
			expected{phase: v1alpha1.NodeUpgrading, reason: ReasonSettling, after: 5 * time.Minute}},
		{"all steps done but the old version shown for long is a failure", observed(at(5*time.Minute), underWay, pod(RoleUpgrader, corev1.PodSucceeded)),
			expected{phase: v1alpha1.NodeFailed, reason: ReasonVersionMismatch, message: "then `refit retry worker-0`"}},
		{"all steps done but the node not Ready for long is a failure", observed(at(5*time.Minute), underWay, kubeletAt(to), nodeIs(corev1.ConditionFalse, 0), pod(RoleUpgrader, corev1.PodSucceeded)),
			expected{phase: v1alpha1.NodeFailed, reason: ReasonNodeNotReady}},
		{"a Pod that runs past every deadline is a failure", observed(at(5*time.Hour), underWay, pod(RoleUpgrader, corev1.PodRunning, running(RoleUpgrader, v1alpha1.StepKubeadm))),
			expected{phase: v1alpha1.NodeFailed, reason: ReasonDeadlineExceeded, message: "look at its logs, then `refit retry worker-0`"}},
		{"a Pod on a node that says nothing is waited for", observed(underWay, nodeIs(corev1.ConditionUnknown, 0), pod(RoleUpgrader, corev1.PodRunning, running(RoleUpgrader, v1alpha1.StepKubelet)),
			status(func(s *v1alpha1.NodeUpgradeStatus) { s.Step = v1alpha1.StepKubelet })),
			expected{phase: v1alpha1.NodeUpgrading, reason: ReasonNodeNotReady, message: "during step kubelet", after: 20 * time.Minute}},
		{"a lost node that comes back goes on by itself", observed(at(time.Hour), underWay, phase(v1alpha1.NodeFailed), finished, readyFor(ReasonNodeLost),
			pod(RoleUpgrader, corev1.PodFailed), seen(RoleUpgrader)), expected{phase: v1alpha1.NodeUpgrading, reason: ReasonInterrupted}},
		{"a lost node that a person holds since does not", observed(upgradeSpec(hold), at(time.Hour), underWay, phase(v1alpha1.NodeFailed), finished, readyFor(ReasonNodeLost)),
			expected{phase: v1alpha1.NodeFailed, reason: ReasonNodeLost}},
	})
}

func kubeletAt(v string) change {
	return onNode(func(n *corev1.Node) { n.Status.NodeInfo.KubeletVersion = v })
}

func TestFailures(t *testing.T) {
	failed := func(step v1alpha1.StepName, code int32) change {
		return pod(RoleUpgrader, corev1.PodFailed, exited(RoleUpgrader, step, code, "it says why"))
	}
	attempts := func(n int32) change { return status(func(s *v1alpha1.NodeUpgradeStatus) { s.Attempts = n }) }
	interruptions := func(n int32) change {
		return status(func(s *v1alpha1.NodeUpgradeStatus) { s.Interruptions = n })
	}
	onTimeout := func(a v1alpha1.DrainTimeoutAction) change {
		return upgradeSpec(func(s *v1alpha1.NodeUpgradeSpec) { s.Drain = &v1alpha1.DrainPolicy{OnTimeout: a} })
	}
	check(t, []decisionTest{
		{"a failed step is counted, and starts again after a pause", observed(underWay, failed(v1alpha1.StepKubeadm, 1)),
			expected{phase: v1alpha1.NodeUpgrading, reason: ReasonRetrying, message: "step kubeadm: it says why (attempt 1 of 3); it is started again after 10s", after: 11 * time.Second, status: func(g Gomega, s v1alpha1.NodeUpgradeStatus) {
				g.Expect(s.Attempts).To(Equal(int32(1)))
				g.Expect(s.Step).To(Equal(v1alpha1.StepPreflight))
				g.Expect(meta.FindStatusCondition(s.Conditions, v1alpha1.ConditionKubeadmUpgraded).Reason).To(Equal("KubeadmFailed"))
			}}},
		{"what a step says of itself is said once", observed(underWay, pod(RoleUpgrader, corev1.PodFailed, exited(RoleUpgrader, v1alpha1.StepKubeadm, 10, "kubeadm: look whether it is done: no"))),
			expected{phase: v1alpha1.NodeFailed, reason: ReasonRefused, status: func(g Gomega, s v1alpha1.NodeUpgradeStatus) {
				g.Expect(meta.FindStatusCondition(s.Conditions, v1alpha1.ConditionReady).Message).To(Equal("step kubeadm: look whether it is done: no"))
				g.Expect(meta.FindStatusCondition(s.Conditions, v1alpha1.ConditionKubeadmUpgraded).Message).To(Equal("look whether it is done: no"))
			}}},
		{"a failed Pod that is counted is left alone during the pause", observed(underWay, attempts(1), counted(RoleUpgrader), failed(v1alpha1.StepKubeadm, 1)),
			expected{phase: v1alpha1.NodeUpgrading, after: 11 * time.Second, status: func(g Gomega, s v1alpha1.NodeUpgradeStatus) { g.Expect(s.Attempts).To(Equal(int32(1))) }}},
		{"a failed Pod that is counted makes room after the pause", observed(at(12*time.Second), underWay, attempts(1), counted(RoleUpgrader), failed(v1alpha1.StepKubeadm, 1)),
			expected{action: "DeletePod worker-0-node-upgrader"}},
		{"the next Pod is created when the failed one is gone", observed(at(12*time.Second), underWay, attempts(1), counted(RoleUpgrader)),
			expected{action: "CreatePod upgrader", status: func(g Gomega, s v1alpha1.NodeUpgradeStatus) { g.Expect(s.Attempts).To(Equal(int32(1))) }}},
		{"the third failure is the last", observed(underWay, attempts(2), failed(v1alpha1.StepKubeadm, 1)),
			expected{phase: v1alpha1.NodeFailed, reason: ReasonStepFailed, message: "attempt 3 of 3): see to the cause, then `refit retry worker-0`"}},
		{"a refusal is not tried again", observed(underWay, failed(v1alpha1.StepPreflight, 10)), expected{phase: v1alpha1.NodeFailed, reason: ReasonRefused, message: "it says why"}},
		{"a roll-back is not tried again", observed(underWay, failed(v1alpha1.StepKubelet, 12)), expected{phase: v1alpha1.NodeFailed, reason: ReasonRolledBack}},
		{"a drain that timed out fails by default", observed(underWay, failed(v1alpha1.StepDrain, 11)), expected{phase: v1alpha1.NodeFailed, reason: ReasonDrainTimedOut}},
		{"a drain that timed out leaves the node out where its policy says so", observed(underWay, onTimeout(v1alpha1.DrainSkip), failed(v1alpha1.StepDrain, 11)),
			expected{phase: v1alpha1.NodeSkipped, reason: ReasonSkipped}},
		{"a killed container is an interruption, not a failure", observed(underWay, failed(v1alpha1.StepKubelet, 137)),
			expected{phase: v1alpha1.NodeUpgrading, reason: ReasonInterrupted, after: 2 * time.Second, status: func(g Gomega, s v1alpha1.NodeUpgradeStatus) {
				g.Expect(s.Attempts).To(BeZero())
				g.Expect(s.Interruptions).To(Equal(int32(1)))
			}}},
		{"a Pod that failed without a word is an interruption", observed(underWay, pod(RoleUpgrader, corev1.PodFailed)), expected{reason: ReasonInterrupted}},
		{"a Pod that a restart of the node left between two steps, which its kubelet never goes on with, is an interruption",
			observed(at(31*time.Second), underWay, pod(RoleUpgrader, corev1.PodPending, exited(RoleUpgrader, v1alpha1.StepDrain, 0, ""), withoutSandbox(RoleUpgrader))),
			expected{phase: v1alpha1.NodeUpgrading, reason: ReasonInterrupted, message: "between two steps", status: func(g Gomega, s v1alpha1.NodeUpgradeStatus) {
				g.Expect(s.Interruptions).To(Equal(int32(1)))
			}}},
		{"a sandbox that is away for a moment only is waited for", observed(underWay, pod(RoleUpgrader, corev1.PodPending, exited(RoleUpgrader, v1alpha1.StepDrain, 0, ""), withoutSandbox(RoleUpgrader))),
			expected{phase: v1alpha1.NodeUpgrading, reason: ReasonUpgrading, after: 31 * time.Second, status: func(g Gomega, s v1alpha1.NodeUpgradeStatus) { g.Expect(s.Interruptions).To(BeZero()) }}},
		{"a Pod whose step still runs has its sandbox, whatever is told of it",
			observed(at(31*time.Second), underWay, pod(RoleUpgrader, corev1.PodPending, running(RoleUpgrader, v1alpha1.StepDrain), withoutSandbox(RoleUpgrader))),
			expected{phase: v1alpha1.NodeUpgrading, reason: ReasonUpgrading, message: "step drain is running"}},
		{"interruptions have a limit", observed(underWay, interruptions(10), failed(v1alpha1.StepKubelet, 137)), expected{phase: v1alpha1.NodeFailed, reason: ReasonTooManyInterruptions, message: "see to the node, then `refit retry worker-0`"}},
		{"a Pod that somebody deleted is an interruption", observed(underWay, seen(RoleUpgrader)),
			expected{action: "CreatePod upgrader", status: func(g Gomega, s v1alpha1.NodeUpgradeStatus) { g.Expect(s.Interruptions).To(Equal(int32(1))) }}},
		{"a Pod that is being deleted is waited for", observed(underWay, pod(RoleUpgrader, corev1.PodRunning, running(RoleUpgrader, v1alpha1.StepDrain), func(o *Observation) {
			o.Pods[RoleUpgrader].DeletionTimestamp = ptr.To(metav1.NewTime(start))
		})), expected{reason: ReasonUpgrading, message: "being deleted"}},
		{"a failed upgrade lifts its own cordon", observed(phase(v1alpha1.NodeFailed), finished, cordonedBy("upgrade-1"), failed(v1alpha1.StepDrain, 11), counted(RoleUpgrader)), expected{action: "Uncordon"}},
		{"a failed upgrade leaves a person's cordon", observed(phase(v1alpha1.NodeFailed), finished, onNode(func(n *corev1.Node) { n.Spec.Unschedulable = true })), expected{}},
		{"a failed upgrade leaves another's cordon", observed(phase(v1alpha1.NodeFailed), finished, cordonedBy("upgrade-2")), expected{}},
		{"a failed node that is not Ready stays cordoned", observed(phase(v1alpha1.NodeFailed), finished, cordonedBy("upgrade-1"), nodeIs(corev1.ConditionFalse, 0)), expected{}},
		{"a retry that a person asked for begins anew", observed(upgradeSpec(retry), phase(v1alpha1.NodeFailed), finished, attempts(3), counted(RoleUpgrader), failed(v1alpha1.StepKubeadm, 1)),
			expected{phase: v1alpha1.NodePending, reason: ReasonRetryAsked, status: func(g Gomega, s v1alpha1.NodeUpgradeStatus) {
				g.Expect(s.Attempts).To(BeZero())
				g.Expect(s.Retried).To(Equal(int64(1)))
			}}},
		{"a retry removes the Pod that failed", observed(at(time.Minute), upgradeSpec(retry), phase(v1alpha1.NodePending), status(func(s *v1alpha1.NodeUpgradeStatus) { s.Retried = 1 }),
			counted(RoleUpgrader), failed(v1alpha1.StepKubeadm, 1)), expected{action: "DeletePod worker-0-node-upgrader", phase: v1alpha1.NodeUpgrading}},
		{"a retry of a completed upgrade does nothing", observed(upgradeSpec(retry), kubeletAt(to), completed), expected{phase: v1alpha1.NodeCompleted}},
	})
}

func completed(o *Observation) {
	phase(v1alpha1.NodeCompleted)(o)
	finished(o)
	o.Upgrade.Status.Completed = true
	o.Upgrade.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionReady, Status: metav1.ConditionTrue, Reason: ReasonCompleted}}
}

func TestTheNodeItself(t *testing.T) {
	check(t, []decisionTest{
		{"a node deleted meanwhile is recorded as gone", observed(underWay, func(o *Observation) { o.Node = nil }), expected{phase: v1alpha1.NodeFailed, reason: ReasonNodeDeleted}},
		{"a node recreated under the same name is another node", observed(underWay, onNode(func(n *corev1.Node) { n.UID = "other" })), expected{phase: v1alpha1.NodeFailed, reason: ReasonNodeRecreated, message: "`refit retry worker-0` upgrades it"}},
		{"a retry adopts the recreated node", observed(underWay, upgradeSpec(retry), phase(v1alpha1.NodeFailed), finished, readyFor(ReasonNodeRecreated), onNode(func(n *corev1.Node) { n.UID = "other" })),
			expected{phase: v1alpha1.NodePending, status: func(g Gomega, s v1alpha1.NodeUpgradeStatus) {
				g.Expect(s.NodeUID).To(BeEmpty())
				g.Expect(s.Conditions).To(HaveLen(1))
			}}},
		{"a completed upgrade stays so when its node is deleted", observed(completed, func(o *Observation) { o.Node = nil }), expected{phase: v1alpha1.NodeCompleted}},
		{"an ended Pod of another upgrade makes room", observed(underWay, pod(RoleUpgrader, corev1.PodSucceeded), foreign), expected{action: "DeletePod worker-0-node-upgrader", after: foreignAfter}},
		{"a Pod of another upgrade at work is waited for", observed(underWay, pod(RoleUpgrader, corev1.PodRunning), foreign), expected{reason: ReasonNodeBusy, after: foreignAfter}},
	})
}

func foreign(o *Observation) { o.Pods[RoleUpgrader].OwnerReferences[0].UID = "another" }

func TestAbortAndDeletion(t *testing.T) {
	deleted := func(o *Observation) { o.Upgrade.DeletionTimestamp = ptr.To(metav1.NewTime(start)) }
	check(t, []decisionTest{
		{"an abort before anything began ends it", observed(upgradeSpec(abort)), expected{phase: v1alpha1.NodeAborted, reason: ReasonAborted}},
		{"an abort while held ends it", observed(upgradeSpec(abort), upgradeSpec(hold), phase(v1alpha1.NodeStaged)), expected{phase: v1alpha1.NodeAborted}},
		{"an abort before the node is changed stops the Pod", observed(upgradeSpec(abort), underWay, pod(RoleUpgrader, corev1.PodRunning, running(RoleUpgrader, v1alpha1.StepPullImages))),
			expected{action: "DeletePod worker-0-node-upgrader", phase: v1alpha1.NodeUpgrading, reason: ReasonAborting}},
		{"an abort of a node that is being changed brings it to its end first", observed(upgradeSpec(abort), underWay, pod(RoleUpgrader, corev1.PodRunning, running(RoleUpgrader, v1alpha1.StepContainerd))),
			expected{phase: v1alpha1.NodeUpgrading, reason: ReasonUpgrading}},
		{"an abort of a changed node starts an interrupted Pod again", observed(upgradeSpec(abort), underWay, status(func(s *v1alpha1.NodeUpgradeStatus) {
			s.Steps = []v1alpha1.StepStatus{{Name: v1alpha1.StepKubelet, State: v1alpha1.StepFailed, Attempt: 1}}
		})), expected{action: "CreatePod upgrader"}},
		{"an aborted upgrade lifts its own cordon", observed(upgradeSpec(abort), phase(v1alpha1.NodeAborted), finished, cordonedBy("upgrade-1")), expected{action: "Uncordon"}},
		{"a deleted upgrade without anything taken goes", observed(deleted), expected{action: "RemoveFinalizer"}},
		{"a deleted upgrade lets the step under way end", observed(deleted, underWay, pod(RoleUpgrader, corev1.PodRunning, running(RoleUpgrader, v1alpha1.StepKubeadm))),
			expected{action: "DeletePod worker-0-node-upgrader", reason: ReasonDeleting, after: 25 * time.Minute}},
		{"a deleted upgrade lifts its own cordon", observed(deleted, underWay, cordonedBy("upgrade-1")), expected{action: "Uncordon"}},
		{"a deleted upgrade leaves a person's cordon", observed(deleted, underWay, onNode(func(n *corev1.Node) { n.Spec.Unschedulable = true })), expected{action: "RemoveFinalizer"}},
		{"a deleted upgrade whose node is gone goes", observed(deleted, underWay, func(o *Observation) { o.Node = nil }), expected{action: "RemoveFinalizer"}},
		{"a deleted upgrade does not wait for ever", observed(at(25*time.Minute), deleted, underWay, pod(RoleUpgrader, corev1.PodRunning, running(RoleUpgrader, v1alpha1.StepKubeadm))),
			expected{action: "RemoveFinalizer"}},
	})
}
