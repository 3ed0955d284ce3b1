package rollout

import (
	"fmt"
	"slices"

	"refit.dev/refit/api/v1alpha1"
)

// rest is the state between two hops, or before the first.
func (j *journey) rest() v1alpha1.UpgradeState {
	if j.at == 0 {
		return v1alpha1.StateUpgradeStarted
	}
	return j.mastersState()
}

// mastersState is the state in which every control plane runs the hop.
func (j *journey) mastersState() v1alpha1.UpgradeState {
	switch {
	case len(j.masters.nodes) > 1:
		return v1alpha1.StateUpgradedSecondMaster
	case j.plan.Networking == v1alpha1.NetworkingFirst:
		return v1alpha1.StateUpgradedFirstMaster
	}
	return v1alpha1.StateUpgradedNetworking
}

// first brings the first control plane to the hop. Where networking comes after it, nobody else may begin before.
func (d *Decision) first(j *journey) outcome {
	idle := j.rest()
	if j.plan.Networking == v1alpha1.NetworkingFirst {
		idle = v1alpha1.StateUpgradedNetworking
	}
	allowed := j.masters.in(NodeInFlight)
	if len(allowed) == 0 {
		allowed = j.preferred(j.askedMasters())
	}
	d.do(j, j.applyControlPlane(&allowed, "the first control plane of the hop goes first")...)
	if len(allowed) == 0 {
		j.masters.sayAll("has not been asked for yet")
		return outcome{state: idle, reason: ReasonWaiting, waiting: "Manual: ask for the first control plane"}
	}
	j.masters.sayAll("%s is the first control plane", allowed[0])
	j.workers.sayAll("control planes come first")
	return outcome{state: v1alpha1.StateUpgradingFirstMaster, waiting: d.mastersWait(j)}
}

// preferred is the one among the control planes that goes first, none where there are none: one that was left half-way, else the
// one that the existing ControlPlaneUpgrade allows (a choice once made is kept), else the first that is sound.
func (j *journey) preferred(asked []*standing) []string {
	sound := slices.DeleteFunc(slices.Clone(asked), func(s *standing) bool {
		m := j.Cluster.Etcd.MemberOn(s.node.Name)
		return !s.halfway() && (!s.node.Ready || m != nil && !m.Healthy)
	})
	if len(sound) == 0 {
		sound = asked
	}
	if len(sound) == 0 {
		return []string{}
	}
	chosen := sound[0]
	if existing := j.controlPlaneUpgrade(); !chosen.halfway() && existing != nil && existing.Spec.Allowed != nil {
		for _, s := range sound {
			if slices.Contains(*existing.Spec.Allowed, s.node.Name) {
				chosen = s
				break
			}
		}
	}
	return []string{chosen.node.Name}
}

// second brings the other control planes to the hop.
func (d *Decision) second(j *journey) outcome {
	var allowed *[]string
	if j.manual() {
		names := j.masters.in(NodeDone, NodeInFlight)
		for _, s := range j.askedMasters() {
			names = append(names, s.node.Name)
		}
		slices.SortFunc(names, natural)
		allowed = &names
	}
	d.do(j, j.applyControlPlane(allowed, "networking is done: the other control planes follow")...)
	j.workers.sayAll("control planes come first")
	if j.manual() && len(j.askedMasters()) == 0 && len(j.masters.in(NodeInFlight)) == 0 {
		j.masters.sayAll("has not been asked for yet")
		idle := v1alpha1.StateUpgradedNetworking
		if j.plan.Networking == v1alpha1.NetworkingFirst {
			idle = v1alpha1.StateUpgradedFirstMaster
		}
		return outcome{state: idle, reason: ReasonWaiting, waiting: "Manual: ask for the next control plane"}
	}
	return outcome{state: v1alpha1.StateUpgradingSecondMaster, waiting: d.mastersWait(j)}
}

// mastersWait is what the control planes wait for, as their own object says.
func (d *Decision) mastersWait(j *journey) string {
	if f := j.masters.in(NodeInFlight); len(f) > 0 {
		return fmt.Sprintf("control plane %s upgraded", are(f)+" being")
	}
	if existing := j.controlPlaneUpgrade(); existing != nil && existing.Status.Waiting != "" {
		return existing.Status.Waiting
	}
	return "the next control plane of " + j.hop()
}
