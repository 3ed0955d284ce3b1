package rollout

import (
	"fmt"
	"slices"
	"strings"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/gate"
	"refit.dev/refit/internal/snapshot"
	"refit.dev/refit/internal/version"
)

// DecideControlPlane decides which control plane is next, one at a time: all are staged ahead, and each is begun only when no
// other is in flight, its gates are open, and etcd keeps its quorum without it.
func DecideControlPlane(in ControlPlaneInput) ControlPlaneDecision {
	u := in.Upgrade
	f := machines(in.Cluster, u)
	d := ControlPlaneDecision{Status: *u.Status.DeepCopy()}
	if f.over(u) {
		d.Nodes = f.list(nil)
		return d
	}
	left := len(f.nodes) - len(f.in(NodeDone))
	d.Status.Upgraded, d.Status.RequireUpgrade = int64(len(f.nodes)-left), int64(left)
	d.Status.Ready, d.Status.Waiting, d.Status.Current = left == 0, "", ""
	d.Status.ObservedGeneration = u.Generation

	flying := mastersInFlight(in.Cluster, f.claims)
	if len(flying) > 0 {
		d.Status.Current = flying[0]
	}
	switch why := f.halted(u); {
	case left == 0:
	case why != "":
		f.sayAll("%s", why)
		d.Status.Waiting = why
	default:
		staged := fetching(in.Cluster, v1alpha1.NodeTypeControlPlane)
		d.Actions = f.stage(1-len(staged)-len(flying), "control planes are staged and changed one at a time")
		for _, a := range d.Actions {
			if a.Kind == Stage {
				staged = append(staged, a.Node)
			}
		}
		d.next(f, in, flying, staged)
	}
	d.conditions(in, f)
	d.Nodes = f.list(nil)
	return d
}

// over says that the control planes have come to the version, and that nobody asks for more. What becomes of them later is another
// upgrade's: one that brings them back, and takes claims of this one away, must not find this one at work again.
func (f *field) over(asked *v1alpha1.ControlPlaneUpgrade) bool {
	if !asked.Status.Ready || asked.Status.ObservedGeneration != asked.Generation {
		return false
	}
	for i := range f.cluster.Upgrades {
		if u := &f.cluster.Upgrades[i]; u.Name == f.owner.name {
			return u.Finished()
		}
	}
	return true
}

// halted says why nothing new may be begun; empty where it may. It does not wait for the KubernetesUpgrade's controller to pass a
// pause, an abort or a failure on.
func (f *field) halted(asked *v1alpha1.ControlPlaneUpgrade) string {
	paused := asked.Spec.Paused
	for i := range f.cluster.Upgrades {
		u := &f.cluster.Upgrades[i]
		switch {
		case u.Name != f.owner.name:
		case u.Spec.Abort:
			return "aborted: nothing new is started"
		case u.Finished():
			return "the upgrade has ended: nothing new is started"
		case u.Spec.Paused:
			paused = true
		case u.Status.State == v1alpha1.StateUpgradeFailed && u.Spec.Resume <= f.owner.resume:
			return "the upgrade has failed: nothing new is started"
		case u.Status.Hop != "" && u.Status.Hop != asked.Spec.KubernetesVersion:
			return "the upgrade is at " + u.Status.Hop + ": nothing is started for this version"
		}
	}
	if paused {
		return "paused: nothing new is started"
	}
	for _, nu := range f.cluster.NodeUpgrades {
		if nu.Labels[v1alpha1.LabelUpgrade] != f.owner.name || nu.Status.Phase != v1alpha1.NodeFailed {
			continue
		}
		if n := f.cluster.Node(nodeOf(nu)); n != nil {
			if s := f.claims.stand(n, nu.Spec.KubernetesVersion, f.owner); s.state == NodeFailed {
				return s.failed()
			}
		}
	}
	return ""
}

// machines are the control planes that the object names, as they stand. Those that are gone need nothing.
func machines(c *snapshot.Cluster, u *v1alpha1.ControlPlaneUpgrade) *field {
	named := map[string]bool{}
	for _, m := range u.Spec.MachinesRequireUpgrade {
		named[m.Name] = true
	}
	o := owner{name: u.Labels[v1alpha1.LabelUpgrade], resume: resumeOf(u.Annotations)}
	if o.name == "" {
		o.name = u.Name
	}
	return newField(c, claimsOf(c), o, func(n *snapshot.Node) string {
		if named[n.Name] {
			return u.Spec.KubernetesVersion
		}
		return ""
	})
}

// next begins the next control plane, or says what it waits for.
func (d *ControlPlaneDecision) next(f *field, in ControlPlaneInput, flying, staged []string) {
	u := in.Upgrade
	if len(flying) > 0 {
		f.sayAll("control planes go one at a time, and %s is in flight", flying[0])
		d.Status.Waiting = fmt.Sprintf("%s is being upgraded", flying[0])
		return
	}
	if len(staged) > 0 {
		f.sayAll("control planes are staged and changed one at a time, and %s is being staged", staged[0])
		d.Status.Waiting = staged[0] + " is being staged"
		return
	}
	allowed := func(name string) bool { return u.Spec.Allowed == nil || slices.Contains(*u.Spec.Allowed, name) }
	var waiting []string
	for _, s := range f.masters() {
		if !allowed(s.node.Name) {
			f.say(s, "has not been asked for yet")
			continue
		}
		if can, why := s.ready(); !can {
			f.say(s, "%s", why)
			waiting = append(waiting, s.node.Name+" "+why)
			continue
		}
		if why := d.holds(in, s); why != "" {
			f.say(s, "%s", why)
			d.Status.Waiting = s.node.Name + " waits: " + why
			return
		}
		d.Actions = append(d.Actions, f.begin(s, f.first(s), "it is the next control plane, and its gates are open"))
		d.Status.Current = s.node.Name
		f.sayAll("control planes go one at a time, and %s is next", s.node.Name)
		return
	}
	d.Status.Waiting = strings.Join(waiting, "; ")
	if len(waiting) == 0 && len(f.in(NodeWaiting, NodeStaging, NodeStaged)) > 0 {
		d.Status.Waiting = "no other control plane has been asked for yet"
	}
}

// holds says why the control plane may not be taken out of service now; empty where it may.
func (d *ControlPlaneDecision) holds(in ControlPlaneInput, s *standing) string {
	node := s.node.Name
	if err := version.MayCome(in.Cluster, s.node, s.to); err != nil {
		return err.Error()
	}
	d.Gates = gate.Evaluate(gate.BeforeControlPlane, gate.Input{
		Cluster: in.Cluster, Upgrade: in.Upgrade.Labels[v1alpha1.LabelUpgrade], Target: in.Upgrade.Spec.KubernetesVersion,
		Hop: in.Upgrade.Spec.KubernetesVersion, Node: node, Repair: s.halfway(), Excluded: in.Upgrade.Spec.ExcludedGates,
	})
	if why := gate.Summary(d.Gates); why != "" {
		return why
	}
	if _, unseen := in.Cluster.Unobserved[snapshot.PartEtcd]; !unseen && !gate.KeepsQuorum(&in.Cluster.Etcd, node) {
		return "etcd would lose its quorum while it restarts, whatever gates are excluded"
	}
	return ""
}
