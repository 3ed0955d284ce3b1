package rollout

import (
	"fmt"
	"slices"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/gate"
)

// startWorkers takes further workers out of service, as many as the limits leave room for. Whatever is out already counts, for
// whatever reason. Those go first that are out anyway: half-way, or cordoned by a person.
func (j *journey) startWorkers(d *Decision) []Action {
	room := j.newRoom()
	ready := map[*group][]*standing{}
	some := false
	for _, g := range j.groups {
		ready[g] = j.readyOf(g)
		some = some || len(ready[g]) > 0
	}
	if !some {
		return nil
	}
	d.Gates = append(d.Gates, gate.Evaluate(gate.BeforeWorkers, j.gateInput(room.most))...)
	if why := gate.Summary(d.Gates); why != "" {
		j.workers.sayAll("%s", why)
		return nil
	}
	var actions []Action
	for _, g := range j.groups {
		actions = append(actions, room.fill(g, ready[g])...)
	}
	return actions
}

// readyOf are the nodes of a group that could be begun now, as far as they themselves and the group's turn are concerned.
func (j *journey) readyOf(g *group) []*standing {
	var ready []*standing
	for _, s := range g.nodes {
		if !s.waits() {
			continue
		}
		if g.state != v1alpha1.GroupRunning {
			j.workers.say(s, "%s", g.why)
			continue
		}
		if !j.asked(v1alpha1.RequestKubelet, s.node.Name) {
			j.workers.say(s, "has not been asked for yet")
			continue
		}
		if can, why := s.ready(); !can {
			j.workers.say(s, "%s", why)
			continue
		}
		ready = append(ready, s)
	}
	return ready
}

// cost is what beginning a node adds to those that are out: -1 where it may bring one back, 0 where it is out anyway, else 1.
func cost(s *standing, isOut map[string]bool) int {
	switch {
	case s.halfway() && isOut[s.node.Name]:
		return -1
	case isOut[s.node.Name]:
		return 0
	}
	return 1
}

// few are as many names as are told; of more it is said how many they are.
const few = 4

func full(out []string, most int) string {
	if len(out) <= few { // it is asked for each node that waits
		slices.SortFunc(out, natural)
	}
	return fmt.Sprintf("at most %d may be out of service, and %s", most, are(out))
}

// are says "a is", "a and b are", or how many are where they are many.
func are(names []string) string {
	switch n := len(names); {
	case n == 0:
		return "none is"
	case n == 1:
		return names[0] + " is"
	case n == 2:
		return names[0] + " and " + names[1] + " are"
	case n <= few:
		return fmt.Sprintf("%s and %d others are", names[0], n-1)
	}
	return fmt.Sprintf("%d are", len(names))
}

// kubelets brings workers to the hop, in waves.
func (d *Decision) kubelets(j *journey) outcome {
	if j.manual() && !j.askedWorkers() {
		j.workers.sayAll("has not been asked for yet")
		return outcome{state: j.mastersState(), reason: ReasonWaiting, waiting: "Manual: ask for the kubelet of a worker"}
	}
	if j.idle {
		return outcome{state: v1alpha1.StateUpgradingKubelets}
	}
	d.do(j, j.startWorkers(d)...)
	d.do(j, j.verifications()...)
	o := outcome{state: v1alpha1.StateUpgradingKubelets, waiting: j.workersWait()}
	if why := gate.Summary(d.Gates); why != "" {
		o.reason, o.waiting = ReasonGatesClosed, why
	}
	return o
}

// workersWait says what the workers wait for.
func (j *journey) workersWait() string {
	var flying, lost []string
	for _, s := range j.pending() {
		switch {
		case j.workers.begun(s) || s.state == NodeInFlight && s.node.Ready:
			flying = append(flying, s.node.Name)
		case s.state == NodeInFlight:
			lost = append(lost, s.node.Name)
		}
	}
	switch {
	case len(flying) > 0:
		return are(flying) + " being upgraded"
	case len(lost) > 0:
		return are(lost) + " being upgraded, and not Ready"
	}
	if why := j.groupsWait(); why != "" {
		return why
	}
	for _, s := range j.pending() {
		if n := j.workers.notes[s.node.Name]; n.Action == "" && n.Reason != "" {
			return s.node.Name + ": " + n.Reason
		}
	}
	return ""
}
