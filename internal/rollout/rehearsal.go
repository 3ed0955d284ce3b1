package rollout

import (
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/snapshot"
)

// mostRounds bounds a rehearsal. The waves that are left then are worked out from the size of the last one.
const mostRounds = 600

// rehearsal is an upgrade played forward.
type rehearsal struct {
	cluster *snapshot.Cluster
	// real is the cluster as it is.
	real       *snapshot.Cluster
	upgrade    *v1alpha1.KubernetesUpgrade
	networking Networking
	takes      Durations
	now        time.Duration
	// nodes and claims by name: there may be thousands.
	nodes  map[string]*snapshot.Node
	claims map[string]int
	// due is when the claims, by name, and the networking step, as "", are done.
	due map[string]time.Duration
	// approved are the groups whose approval was noted, verifications what has become of the groups' Jobs.
	approved      []string
	verifications map[string]Verification
}

// run plays until nothing more happens.
func (p *rehearsal) run(r *PlanReport) {
	for round := 0; ; round++ {
		d := Decide(Input{Cluster: p.cluster, Upgrade: p.upgrade, Networking: p.networking, Verifications: p.verifications})
		if round == 0 {
			r.Nodes = d.Nodes
		}
		p.upgrade.Status = d.Status
		before := len(r.Steps)
		acted := p.act(r, d.Actions)
		for i := range p.cluster.ControlPlaneUpgrades {
			u := &p.cluster.ControlPlaneUpgrades[i]
			m := DecideControlPlane(ControlPlaneInput{Cluster: p.cluster, Upgrade: u})
			u.Status = m.Status
			acted = p.act(r, m.Actions) || acted
			d.Nodes = merge(d.Nodes, m.Nodes)
		}
		if !acted && !p.forward() {
			r.Left = left(d.Nodes)
			return
		}
		if round >= mostRounds && len(r.Steps) > 0 && r.Steps[len(r.Steps)-1].Kind == StepWorkers {
			p.extrapolate(r, d.Nodes)
			return
		}
		if round >= 2*mostRounds {
			r.Left = left(d.Nodes)
			return
		}
		if len(r.Steps) > before {
			r.Estimate = r.Steps[len(r.Steps)-1].After + r.Steps[len(r.Steps)-1].Takes
		}
	}
}

// extrapolate adds waves like the last one for the workers that are left.
func (p *rehearsal) extrapolate(r *PlanReport, notes []NodeNote) {
	last := r.Steps[len(r.Steps)-1]
	var names []string
	for _, n := range notes {
		if n.Type == v1alpha1.NodeTypeWorker && (n.State == NodeWaiting || n.State == NodeStaging || n.State == NodeStaged) && n.Action == "" {
			names = append(names, n.Node)
		}
	}
	for wave := range slices.Chunk(names, len(last.Nodes)) {
		next := last
		next.Group = "" // of whichever groups: the waves are worked out by their size alone
		next.Nodes, next.After = wave, last.After+last.Takes
		if len(last.Drained) > 0 {
			next.Drained = wave
		}
		r.Steps = append(r.Steps, next)
		last = next
	}
	r.Estimate = last.After + last.Takes
}

// merge takes what the control planes' own decision says of them.
func merge(all, masters []NodeNote) []NodeNote {
	for _, m := range masters {
		// control planes come first in the list
		if i := slices.IndexFunc(all, func(n NodeNote) bool { return n.Node == m.Node }); i >= 0 && m.Reason != "" {
			all[i] = m
		}
	}
	return all
}

func left(notes []NodeNote) []NodeNote {
	return slices.DeleteFunc(slices.Clone(notes), func(n NodeNote) bool { return n.State == NodeDone })
}

// act carries actions out at the imagined present, and says whether any of them began something: one that only goes on does not.
func (p *rehearsal) act(r *PlanReport, actions []Action) bool {
	var wave *PlanStep
	began := false
	for _, a := range actions {
		switch a.Kind {
		case Stage, ApplyControlPlane, Start, Retry:
			began = true
		}
		switch a.Kind {
		case Stage:
			p.stage(a)
		case ApplyControlPlane:
			p.applyControlPlane(a)
		case RunNetworking:
			if _, running := p.due[""]; !running {
				p.networking = Networking{Version: a.Version, Resume: a.Resume}
				p.due[""] = p.now + p.takes.Networking
				began = true
				r.Steps = append(r.Steps, PlanStep{Kind: StepNetworking, Version: a.Version, After: p.now, Takes: p.takes.Networking})
			}
		case RunVerification:
			began = p.verify(r, a) || began
		case Start, Retry:
			p.start(r, &wave, a)
		case Abort, Forget: // a rehearsal has nothing to abort, and no ended claims
		}
	}
	if wave != nil {
		r.Steps = append(r.Steps, *wave)
	}
	return began
}

func (p *rehearsal) stage(a Action) {
	nu := &v1alpha1.NodeUpgrade{}
	nu.Name = a.Name
	nu.Labels = map[string]string{v1alpha1.LabelUpgrade: p.upgrade.Name}
	nu.Spec = v1alpha1.NodeUpgradeSpec{Machine: corev1.ObjectReference{Kind: "Node", Name: a.Node}, KubernetesVersion: a.Version, Hold: true}
	nu.Spec.NodeType = p.nodes[a.Node].Type()
	nu.Status.Phase = v1alpha1.NodeStaging
	p.claims[a.Name] = len(p.cluster.NodeUpgrades)
	p.cluster.NodeUpgrades = append(p.cluster.NodeUpgrades, nu)
	p.due[a.Name] = p.now + p.takes.Staging
}

func (p *rehearsal) applyControlPlane(a Action) {
	u := v1alpha1.ControlPlaneUpgrade{Spec: *a.ControlPlane}
	u.Name = a.Name
	u.Labels = map[string]string{v1alpha1.LabelUpgrade: p.upgrade.Name}
	u.Annotations = map[string]string{v1alpha1.AnnotationResume: strconv.FormatInt(a.Resume, 10)}
	i := slices.IndexFunc(p.cluster.ControlPlaneUpgrades, func(o v1alpha1.ControlPlaneUpgrade) bool { return o.Name == a.Name })
	if i < 0 {
		p.cluster.ControlPlaneUpgrades = append(p.cluster.ControlPlaneUpgrades, u)
		return
	}
	p.cluster.ControlPlaneUpgrades[i] = u
}

// start begins a control plane as a step of its own, or adds a worker to the wave.
func (p *rehearsal) start(r *PlanReport, wave **PlanStep, a Action) {
	nu := p.claim(a.Name)
	nu.Spec.Hold, nu.Spec.FirstNodeToBeUpgraded, nu.Status.Phase = false, a.First, v1alpha1.NodeUpgrading
	policy := p.drain()
	if a.Drain != nil { // the group's own
		policy = a.Drain
	}
	drained, why := Drains(p.cluster, a.Node, a.Version, policy)
	if nu.Spec.NodeType == v1alpha1.NodeTypeControlPlane {
		step := PlanStep{Kind: StepControlPlane, Version: a.Version, Nodes: []string{a.Node}, First: a.First, Note: why, After: p.now, Takes: p.takes.ControlPlane}
		if drained {
			step.Drained = step.Nodes
		}
		r.Steps = append(r.Steps, step)
		p.due[a.Name] = p.now + p.takes.ControlPlane
		return
	}
	if group := p.groupsOf(r, a); *wave != nil && (*wave).Group != group { // side by side
		r.Steps = append(r.Steps, **wave)
		*wave = nil
	}
	if *wave == nil {
		*wave = &PlanStep{Group: p.groupsOf(r, a), Kind: StepWorkers, Version: a.Version, Note: why, After: p.now, Takes: p.takes.Worker}
	}
	(*wave).Nodes = append((*wave).Nodes, a.Node)
	if drained {
		(*wave).Drained = append((*wave).Drained, a.Node)
	}
	p.due[a.Name] = p.now + p.takes.Worker
}

func (p *rehearsal) drain() *v1alpha1.DrainPolicy {
	plan, err := PlanOf(p.real, p.upgrade.Spec.Plan)
	if err != nil {
		return nil
	}
	return plan.Drain
}

func (p *rehearsal) claim(name string) *v1alpha1.NodeUpgrade {
	return p.cluster.NodeUpgrades[p.claims[name]]
}

// forward moves the imagined present to whatever is done next; false where nothing is under way.
func (p *rehearsal) forward() bool {
	next := p.soaked()
	if len(p.due) == 0 && next < 0 {
		return false
	}
	for _, at := range p.due {
		if next < 0 || at < next {
			next = at
		}
	}
	p.now = next
	p.cluster.Now = p.real.Now.Add(next)
	for name, at := range p.due {
		if at > next {
			continue
		}
		delete(p.due, name)
		if name == "" {
			p.networking.Done = true
			continue
		}
		if p.verified(name) {
			continue
		}
		p.finish(p.claim(name))
	}
	return true
}

// finish ends what a claim is doing, well.
func (p *rehearsal) finish(nu *v1alpha1.NodeUpgrade) {
	if nu.Spec.Hold {
		nu.Status.Phase = v1alpha1.NodeStaged
		return
	}
	nu.Status.Phase, nu.Status.Completed = v1alpha1.NodeCompleted, true
	n := p.nodes[nu.Spec.Machine.Name]
	v := nu.Spec.KubernetesVersion
	n.KubeletVersion = v
	if n.ControlPlane && n.Components != nil {
		n.Components.APIServer.Version, n.Components.ControllerManager.Version, n.Components.Scheduler.Version = v, v, v
		p.cluster.Kubeadm.KubernetesVersion = v
	}
}
