package rollout

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/gate"
	"refit.dev/refit/internal/snapshot"
	"refit.dev/refit/internal/version"
)

// Durations are how long things take, for an estimate. Zero means the default.
type Durations struct {
	// ControlPlane is one control plane, from its turn to the next one's. Default 90 s.
	ControlPlane time.Duration
	// Worker is one worker, drained. Default 30 s.
	Worker time.Duration
	// Staging is fetching programs and images to one node, in service. Default 20 s.
	Staging time.Duration
	// Networking is the networking step of one version. Default 30 s.
	Networking time.Duration
	// Verification is the verification Job of one group. Default 1 min.
	Verification time.Duration
}

func (d Durations) withDefaults() Durations {
	def := func(given *time.Duration, seconds int) {
		if *given <= 0 {
			*given = time.Duration(seconds) * time.Second
		}
	}
	def(&d.ControlPlane, 90)
	def(&d.Worker, 30)
	def(&d.Staging, 20)
	def(&d.Networking, 30)
	def(&d.Verification, 60)
	return d
}

// PreviewRequest is an upgrade that might be asked for.
type PreviewRequest struct {
	// To is the version to bring every node to.
	To string
	// Plan names a RolloutPlan, empty for the default.
	Plan string
	// Excluded are gates, by name, that shall not hold the upgrade up.
	Excluded []string
	// Durations for the estimate.
	Durations Durations
	// Upgrade is the name of the KubernetesUpgrade that asks, which is not in its own way; empty before there is one.
	Upgrade string
}

// StepKind says what a step of a preview is about.
type StepKind string

// The kinds of steps.
const (
	StepControlPlane StepKind = "control-plane"
	StepNetworking   StepKind = "networking"
	StepWorkers      StepKind = "workers"
	// StepApproval is a person's, StepVerification a Job's.
	StepApproval     StepKind = "approval"
	StepVerification StepKind = "verification"
)

// PlanStep is one control plane, one networking step, or one wave of workers.
type PlanStep struct {
	Kind StepKind `json:"kind"`
	// Version that it brings.
	Version string `json:"version"`
	// Group of the plan that the workers belong to, or that is approved or verified; empty without groups.
	Group string `json:"group,omitempty"`
	// Nodes in it, in order.
	Nodes []string `json:"nodes,omitempty"`
	// First says that the control plane runs `kubeadm upgrade apply`.
	First bool `json:"first,omitempty"`
	// Drained are those of the nodes that are drained.
	Drained []string `json:"drained,omitempty"`
	// Note says why nodes are drained, or are not.
	Note string `json:"note,omitempty"`
	// After is how long after the start it begins, Takes how long it lasts.
	After time.Duration `json:"after"`
	Takes time.Duration `json:"takes"`
}

// PlanReport is what an upgrade would do, found out before anything runs, by the same functions that decide when it does.
type PlanReport struct {
	From string   `json:"from"`
	To   string   `json:"to"`
	Hops []string `json:"hops,omitempty"`
	// Refused says why there is no such upgrade at all: unknown version, no way, downgrade not allowed, nothing to do, another
	// upgrade under way. Empty where there is one.
	Refused string `json:"refused,omitempty"`
	// Err is what Refused says, for errors.As; nil where it is not an error of package version.
	Err error `json:"-"`
	// Gates are the verdicts before the start.
	Gates []gate.Verdict `json:"gates,omitempty"`
	// Blocked are the closed gates in words: the upgrade would wait for them, and starts nothing before.
	Blocked []string `json:"blocked,omitempty"`
	// Problems are what is wrong with the plan, in words.
	Problems []string `json:"problems,omitempty"`
	// MaxUnavailable workers are out of service at once, at most.
	MaxUnavailable int `json:"maxUnavailable"`
	// Steps in their order.
	Steps []PlanStep `json:"steps,omitempty"`
	// Left are the nodes that would be left as they are now, each with the reason.
	Left []NodeNote `json:"left,omitempty"`
	// Nodes is where every node stands now.
	Nodes []NodeNote `json:"nodes,omitempty"`
	// Estimate of the whole, as far as the steps go.
	Estimate time.Duration `json:"estimate"`
}

// Open says whether the upgrade could begin now.
func (r *PlanReport) Open() bool { return r.Refused == "" && len(r.Blocked) == 0 }

// Preview plays an upgrade forward over imagined observations in which nothing fails. It changes nothing, and the cluster it
// is given neither.
func Preview(c *snapshot.Cluster, req PreviewRequest) PlanReport {
	r := PlanReport{From: version.StartsFrom(c, req.To), To: req.To}
	in, err := beforeStart(c, req)
	r.MaxUnavailable, r.Hops = in.MaxUnavailable, in.Hops
	if err != nil {
		r.Refused = err.Error()
		if in.MaxUnavailable > 0 {
			r.Err = err
		}
		return r
	}
	if plan, err := PlanOf(c, req.Plan); err == nil {
		r.Problems = Problems(c, plan)
	}
	r.Gates = gate.Evaluate(gate.BeforeStart, in)
	for _, v := range gate.Closed(r.Gates) {
		r.Blocked = append(r.Blocked, v.String())
	}
	newRehearsal(c, req).run(&r)
	return r
}

// Gates asks the gates of a point of an upgrade without one: before its start, or after its end. The error says that there is no plan of
// that name, or no way to the version.
func Gates(c *snapshot.Cluster, p gate.Point, req PreviewRequest) ([]gate.Verdict, error) {
	in, err := beforeStart(c, req)
	if err != nil {
		return nil, err
	}
	return gate.Evaluate(p, in), nil
}

// beforeStart is what the gates look at. MaxUnavailable is 0 where there is no plan of that name.
func beforeStart(c *snapshot.Cluster, req PreviewRequest) (gate.Input, error) {
	in := gate.Input{Cluster: c, Upgrade: req.Upgrade, Target: req.To, Excluded: req.Excluded}
	plan, err := PlanOf(c, req.Plan)
	if err != nil {
		return in, err
	}
	in.MaxUnavailable = mostUnavailable(c, plan)
	if in.Hops, err = version.ForCluster(c, req.To); err != nil {
		return in, err
	}
	in.Hop = in.Hops[0]
	return in, nil
}

// newRehearsal copies what the play changes. Gates are left out of it, as they are shown as they are now, and so are the troubles
// of control planes and etcd, which keep them closed.
func newRehearsal(c *snapshot.Cluster, req PreviewRequest) *rehearsal {
	copied := *c
	copied.Nodes = slices.Clone(c.Nodes)
	p := &rehearsal{cluster: &copied, real: c, takes: req.Durations.withDefaults(),
		nodes: map[string]*snapshot.Node{}, claims: map[string]int{}, due: map[string]time.Duration{}, verifications: map[string]Verification{}}
	for i := range copied.Nodes {
		n := &copied.Nodes[i]
		p.nodes[n.Name] = n
		n.Ready = n.Ready || n.ControlPlane
		if n.Components != nil {
			components := *n.Components
			n.Components = &components
		}
	}
	copied.Etcd.Members = slices.Clone(c.Etcd.Members)
	for i := range copied.Etcd.Members {
		copied.Etcd.Members[i].Healthy = true
	}
	copied.Upgrades, copied.ControlPlaneUpgrades, copied.NodeUpgrades = nil, nil, nil
	for _, nu := range c.NodeUpgrades {
		if !ended(nu) {
			copied.NodeUpgrades = append(copied.NodeUpgrades, nu.DeepCopy())
		}
	}
	p.upgrade = &v1alpha1.KubernetesUpgrade{ObjectMeta: metav1.ObjectMeta{Name: "preview"},
		Spec: v1alpha1.KubernetesUpgradeSpec{ToVersion: req.To, Plan: req.Plan, ExcludedGates: gate.Names()}}
	if plan, err := PlanOf(c, req.Plan); err == nil {
		p.upgrade.Spec.ApprovedGroups = approvals(plan)
	}
	return p
}
