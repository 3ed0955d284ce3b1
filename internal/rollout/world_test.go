package rollout_test

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/rollout"
	"refit.dev/refit/internal/snapshot"
	"refit.dev/refit/internal/snapshot/fixture"
)

// world is an imagined cluster with imagined controllers: it carries the planner's actions out, and lets nodes go through the
// phases of an upgrade, well or not.
type world struct {
	*snapshot.Cluster
	upgrade *v1alpha1.KubernetesUpgrade
	// past are the upgrades before, which have ended.
	past          []v1alpha1.KubernetesUpgrade
	networking    rollout.Networking
	verifications map[string]rollout.Verification
	// failing are nodes on which the next change fails.
	failing []string
	// networkingFails is why the networking step fails under the first resume, if it does.
	networkingFails string
	// onAction sees every action before it is carried out, and the observation that it was decided on.
	onAction func(a rollout.Action, seen *snapshot.Cluster)
	onState  func(s v1alpha1.UpgradeState)
	last     rollout.Decision
	// touched are the claims, by UID, that have changed their node and not made it whole again.
	touched map[types.UID]bool
	// made counts the claims: each has a UID of its own.
	made int
}

func newWorld(c *snapshot.Cluster, u *v1alpha1.KubernetesUpgrade) *world {
	return &world{Cluster: c, upgrade: u, touched: map[types.UID]bool{}}
}

// observe is a deep copy of the world as it is.
func (w *world) observe() *snapshot.Cluster {
	c := *w.Cluster
	c.Nodes = slices.Clone(w.Nodes)
	for i := range c.Nodes {
		if p := c.Nodes[i].Components; p != nil {
			copied := *p
			c.Nodes[i].Components = &copied
		}
	}
	c.Etcd.Members = slices.Clone(w.Etcd.Members)
	c.NodeUpgrades, c.ControlPlaneUpgrades = nil, nil
	for _, nu := range w.NodeUpgrades {
		c.NodeUpgrades = append(c.NodeUpgrades, nu.DeepCopy())
	}
	for i := range w.ControlPlaneUpgrades {
		c.ControlPlaneUpgrades = append(c.ControlPlaneUpgrades, *w.ControlPlaneUpgrades[i].DeepCopy())
	}
	c.Upgrades = w.upgrades()
	return &c
}

// upgrades are all there are, the one under way first.
func (w *world) upgrades() []v1alpha1.KubernetesUpgrade {
	out := []v1alpha1.KubernetesUpgrade{*w.upgrade.DeepCopy()}
	for i := range w.past {
		out = append(out, *w.past[i].DeepCopy())
	}
	return out
}

// follow has another upgrade follow the one that has ended.
func (w *world) follow(to string) {
	w.past = append(w.past, *w.upgrade.DeepCopy())
	next := fixture.Upgrade(to)
	next.Name = fmt.Sprintf("upgrade-%d", len(w.past)+1)
	next.CreationTimestamp = metav1.NewTime(w.Now)
	next.Spec.Mode, next.Spec.Plan, next.Spec.ExcludedGates = w.upgrade.Spec.Mode, w.upgrade.Spec.Plan, w.upgrade.Spec.ExcludedGates
	w.upgrade, w.networking, w.verifications = next, rollout.Networking{}, nil
}

// freshClaims is an older observation, but with the claims as they are now.
func (w *world) freshClaims(old *snapshot.Cluster) *snapshot.Cluster {
	c := *old
	c.NodeUpgrades = w.observe().NodeUpgrades
	return &c
}

// reconcileUpgrade decides once on the KubernetesUpgrade.
func (w *world) reconcileUpgrade(seen *snapshot.Cluster) {
	d := rollout.Decide(rollout.Input{Cluster: seen, Upgrade: w.upgrade.DeepCopy(), Networking: w.networking, Verifications: w.verifications})
	w.last = d
	for _, s := range d.Passed {
		if w.onState != nil {
			w.onState(s)
		}
	}
	w.upgrade.Status = d.Status
	w.act(d.Actions, seen, w.upgrade.Name)
}

// reconcileMasters decides once on every ControlPlaneUpgrade.
func (w *world) reconcileMasters(seen *snapshot.Cluster) {
	for i := range w.ControlPlaneUpgrades {
		u := &w.ControlPlaneUpgrades[i]
		d := rollout.DecideControlPlane(rollout.ControlPlaneInput{Cluster: seen, Upgrade: u.DeepCopy()})
		u.Status = d.Status
		w.act(d.Actions, seen, u.Labels[v1alpha1.LabelUpgrade])
		seen = w.freshClaims(seen)
	}
}

func (w *world) act(actions []rollout.Action, seen *snapshot.Cluster, upgrade string) {
	for _, a := range actions {
		if w.onAction != nil {
			w.onAction(a, seen)
		}
		w.carryOut(a, seen, upgrade)
	}
}

func (w *world) carryOut(a rollout.Action, seen *snapshot.Cluster, upgrade string) {
	resume := map[string]string{v1alpha1.AnnotationResume: strconv.FormatInt(a.Resume, 10)}
	owner := map[string]string{v1alpha1.LabelUpgrade: upgrade}
	i := slices.IndexFunc(w.NodeUpgrades, func(nu *v1alpha1.NodeUpgrade) bool { return nu.Name == a.Name })
	switch a.Kind {
	case rollout.ApplyControlPlane:
		u := v1alpha1.ControlPlaneUpgrade{ObjectMeta: metav1.ObjectMeta{Name: a.Name, Labels: owner, Annotations: resume}, Spec: *a.ControlPlane}
		at := slices.IndexFunc(w.ControlPlaneUpgrades, func(o v1alpha1.ControlPlaneUpgrade) bool { return o.Name == a.Name })
		if at < 0 {
			w.ControlPlaneUpgrades = append(w.ControlPlaneUpgrades, u)
			return
		}
		w.ControlPlaneUpgrades[at].Spec, w.ControlPlaneUpgrades[at].Annotations = u.Spec, resume
	case rollout.Stage:
		if i >= 0 {
			return // AlreadyExists
		}
		n := seen.Node(a.Node) // as the controller does; it may be gone by now
		w.made++
		w.NodeUpgrades = append(w.NodeUpgrades, &v1alpha1.NodeUpgrade{
			ObjectMeta: metav1.ObjectMeta{Name: a.Name, UID: types.UID(fmt.Sprintf("claim-%d", w.made)), Labels: owner, Annotations: resume},
			Spec: v1alpha1.NodeUpgradeSpec{Machine: corev1.ObjectReference{Kind: "Node", Name: a.Node}, KubernetesVersion: a.Version,
				NodeType: n.Type(), Hold: true},
			Status: v1alpha1.NodeUpgradeStatus{Phase: v1alpha1.NodePending},
		})
	case rollout.Start:
		w.NodeUpgrades[i].Spec.Hold, w.NodeUpgrades[i].Spec.FirstNodeToBeUpgraded = false, a.First
	case rollout.Retry:
		nu := w.NodeUpgrades[i]
		nu.Spec.Hold, nu.Spec.Abort, nu.Spec.FirstNodeToBeUpgraded, nu.Annotations = false, false, a.First, resume
		nu.Spec.Retry++
	case rollout.Abort:
		w.NodeUpgrades[i].Spec.Abort = true
	case rollout.Forget:
		if nu := w.NodeUpgrades[i]; w.Node(a.Node) != nil {
			w.uncordon(nu, w.Node(a.Node)) // its finalizer sees to that
		}
		w.NodeUpgrades = slices.Delete(w.NodeUpgrades, i, i+1)
	case rollout.RunNetworking:
		if w.networking.Version != a.Version || w.networking.Resume != a.Resume {
			w.networking = rollout.Networking{Version: a.Version, Resume: a.Resume}
			if a.Resume == 0 {
				w.networking.Failed = w.networkingFails
			}
		}
	}
}

// outcome is what happens to a claim when it is ticked.
type outcome int

const (
	well outcome = iota
	fails
	skips
)

// tick takes a claim one step further.
func (w *world) tick(nu *v1alpha1.NodeUpgrade, o outcome) {
	n := w.Node(nu.Spec.Machine.Name)
	s := &nu.Status
	if !s.Phase.Ended() && (n == nil || s.NodeUID != "" && n.UID != s.NodeUID) {
		s.Phase = v1alpha1.NodeFailed // the node is gone
		return
	}
	if n == nil || !n.Ready {
		return // its pod cannot run
	}
	if s.Phase.Ended() {
		if s.Phase != v1alpha1.NodeCompleted && nu.Spec.Retry > s.Retried {
			s.Phase, s.Step, s.Retried = v1alpha1.NodePending, "", nu.Spec.Retry
			return
		}
		w.uncordon(nu, n)
		return
	}
	if nu.Spec.Abort && !w.touched[nu.UID] {
		s.Phase = v1alpha1.NodeAborted
		return
	}
	switch s.Phase {
	case v1alpha1.NodePending, "":
		s.Phase, s.Step, s.NodeUID, s.FromVersion = v1alpha1.NodeStaging, v1alpha1.StepPreflight, n.UID, n.KubeletVersion
	case v1alpha1.NodeStaging:
		switch {
		case w.touched[nu.UID] && !nu.Spec.Hold:
			s.Phase, s.Step = v1alpha1.NodeUpgrading, ""
		case o == fails:
			w.fail(nu, v1alpha1.StepPullImages)
		case nu.Spec.Hold:
			s.Phase = v1alpha1.NodeStaged
		default:
			s.Phase, s.Step = v1alpha1.NodeUpgrading, ""
		}
	case v1alpha1.NodeStaged:
		if !nu.Spec.Hold {
			s.Phase, s.Step = v1alpha1.NodeUpgrading, ""
		}
	case v1alpha1.NodeUpgrading:
		w.change(nu, n, o)
	}
}

func (w *world) fail(nu *v1alpha1.NodeUpgrade, step v1alpha1.StepName) {
	nu.Status.Phase, nu.Status.Step = v1alpha1.NodeFailed, step
	nu.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionReady, Status: metav1.ConditionFalse, Reason: "StepFailed", Message: "it broke"}}
}

// change goes through the steps that change a node.
func (w *world) change(nu *v1alpha1.NodeUpgrade, n *snapshot.Node, o outcome) {
	s, v := &nu.Status, nu.Spec.KubernetesVersion
	switch s.Step {
	case "":
		begin(s, v1alpha1.StepKubeadm)
		w.touched[nu.UID] = true
		w.member(n.Name, true)
	case v1alpha1.StepKubeadm:
		if o == fails {
			w.fail(nu, s.Step)
			return
		}
		if p := n.Components; p != nil {
			w.member(n.Name, false)
			p.APIServer.Version, p.ControllerManager.Version, p.Scheduler.Version = v, v, v
			if nu.Spec.FirstNodeToBeUpgraded {
				w.Kubeadm.KubernetesVersion = v
			}
			if w.Kubeadm.KubernetesVersion != v {
				panic(fmt.Sprintf("%s runs `upgrade node` while the configuration is of %s, not %s", n.Name, w.Kubeadm.KubernetesVersion, v))
			}
		}
		begin(s, v1alpha1.StepDrain)
		if !n.Cordoned || n.CordonedBy != "" { // one that an earlier upgrade left is taken over
			n.Cordoned, n.CordonedBy = true, string(nu.UID)
		}
	case v1alpha1.StepDrain:
		if o == skips {
			w.uncordon(nu, n)
			delete(w.touched, nu.UID)
			s.Phase = v1alpha1.NodeSkipped
			return
		}
		begin(s, v1alpha1.StepKubelet)
	case v1alpha1.StepKubelet:
		if o == fails {
			w.fail(nu, s.Step)
			return
		}
		n.KubeletVersion = v
		begin(s, v1alpha1.StepVerify)
	default:
		w.uncordon(nu, n)
		delete(w.touched, nu.UID)
		s.Phase, s.Completed, s.Step, s.FinishedAt = v1alpha1.NodeCompleted, true, "", &metav1.Time{Time: w.Now}
	}
}

// begin has a step be under way.
func begin(s *v1alpha1.NodeUpgradeStatus, step v1alpha1.StepName) {
	s.Step = step
	s.Steps = append(s.Steps, v1alpha1.StepStatus{Name: step, State: v1alpha1.StepRunning, Attempt: 1})
}

func (w *world) uncordon(nu *v1alpha1.NodeUpgrade, n *snapshot.Node) {
	if n.CordonedBy == string(nu.UID) {
		n.Cordoned, n.CordonedBy = false, ""
	}
}

// member takes a control plane's etcd member and API server down, or up again.
func (w *world) member(node string, down bool) {
	n, m := w.Node(node), w.Etcd.MemberOn(node)
	if n == nil || n.Components == nil || m == nil {
		return
	}
	m.Healthy, n.Components.Etcd.Ready, n.Components.APIServer.Ready = !down, !down, !down
}

// round lets everybody act once: controllers first, then each node, well.
func (w *world) round() {
	w.reconcileUpgrade(w.observe())
	w.reconcileMasters(w.observe())
	for i := range w.NodeUpgrades {
		o := well
		if nu := w.NodeUpgrades[i]; nu.Status.Phase == v1alpha1.NodeUpgrading && slices.Contains(w.failing, nu.Spec.Machine.Name) {
			o = fails
		}
		w.tick(w.NodeUpgrades[i], o)
	}
	if w.networking.Version != "" && w.networking.Failed == "" {
		w.networking.Done = true
	}
	w.Now = w.Now.Add(10 * time.Second)
}

func (w *world) claim(name string) *v1alpha1.NodeUpgrade {
	i := slices.IndexFunc(w.NodeUpgrades, func(nu *v1alpha1.NodeUpgrade) bool { return nu.Name == name })
	if i < 0 {
		return nil
	}
	return w.NodeUpgrades[i]
}

// until lets rounds pass until a condition holds, at most that many.
func (w *world) until(rounds int, holds func() bool) bool {
	for range rounds {
		if holds() {
			return true
		}
		w.round()
	}
	return holds()
}

func (w *world) complete() bool { return w.upgrade.Status.State == v1alpha1.StateUpgradeComplete }
