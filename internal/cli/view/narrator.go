package view

import (
	"fmt"
	"slices"
	"time"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/cli/feed"
	"refit.dev/refit/internal/cli/print"
)

// Narrator tells an upgrade in lines, for where there is no terminal: one for each thing that changed.
type Narrator struct {
	upgrade string
	state   v1alpha1.UpgradeState
	waiting string
	nodes   map[string]told
	lost    bool
}

// told is what was last said of a node's upgrade.
type told struct {
	uid   string
	phase v1alpha1.NodeUpgradePhase
	steps map[v1alpha1.StepName]toldStep
}

type toldStep struct {
	state   v1alpha1.StepState
	attempt int32
	// pod counts the upgrader Pods up to the one that the step was last seen to run in, 0 where it was not seen.
	pod int32
}

// NewNarrator tells of the upgrade of that name.
func NewNarrator(upgrade string) *Narrator {
	return &Narrator{upgrade: upgrade, nodes: map[string]told{}}
}

// Tell gives the lines for what changed since the last call.
func (n *Narrator) Tell(seen feed.Seen, now time.Time) []string {
	var lines []string
	say := func(format string, args ...any) {
		lines = append(lines, now.Format("15:04:05")+" "+fmt.Sprintf(format, args...))
	}
	n.tellConnection(seen, now, say)
	u := seen.Upgrade(n.upgrade)
	if u == nil {
		return lines
	}
	for _, row := range sortedUpgrades(seen.NodeUpgrades, n.upgrade) {
		n.tellNode(row, now, say)
	}
	if u.Status.State != n.state {
		n.state = u.Status.State
		say("upgrade %s: %s%s", u.Name, u.Status.State, nodesDone(u))
	}
	if u.Status.Waiting != n.waiting {
		n.waiting = u.Status.Waiting
		if n.waiting != "" {
			say("waiting: %s", n.waiting)
		}
	}
	return lines
}

func (n *Narrator) tellConnection(seen feed.Seen, now time.Time, say func(string, ...any)) {
	lost := !seen.LostSince.IsZero() && now.Sub(seen.LostSince) >= 2*time.Second
	switch {
	case lost && !n.lost:
		say("the API server does not answer, trying again: %s", seen.LostReason)
	case n.lost && seen.LostSince.IsZero():
		say("the API server answers again")
		lost = false
	case n.lost:
		lost = true
	}
	n.lost = lost
}

func (n *Narrator) tellNode(u *v1alpha1.NodeUpgrade, now time.Time, say func(string, ...any)) {
	node := u.Spec.Machine.Name
	known, same := n.nodes[node]
	if !same || known.uid != string(u.UID) {
		known = told{uid: string(u.UID), steps: map[v1alpha1.StepName]toldStep{}}
	}
	for _, s := range u.Status.Steps {
		before := known.steps[s.Name]
		after := toldStep{state: s.State, attempt: s.Attempt, pod: before.pod}
		if s.State == v1alpha1.StepRunning {
			after.pod = podNumber(u)
		}
		if before != after {
			tellStep(node, s, after.pod, now, say)
		}
		known.steps[s.Name] = after
	}
	if u.Status.Phase != known.phase {
		known.phase = u.Status.Phase
		tellPhase(u, now, say)
	}
	n.nodes[node] = known
}

// podNumber counts the upgrader Pods of what the node is at: its staging, or its turn. A step's own count goes on over both,
// and so is 2 where the turn begins with what the staging has done.
func podNumber(u *v1alpha1.NodeUpgrade) int32 {
	return u.Status.Attempts + u.Status.Interruptions + 1
}

func tellStep(node string, s v1alpha1.StepStatus, pod int32, now time.Time, say func(string, ...any)) {
	again := ""
	if pod > 1 {
		again = fmt.Sprintf(", attempt %d", pod)
	}
	switch s.State {
	case v1alpha1.StepRunning:
		say("node %s: %s%s", node, s.Name, again)
	case v1alpha1.StepSucceeded:
		say("node %s: %s done in %s%s", node, s.Name, print.Duration(stepTime(s, now)), detail(s.Message))
	case v1alpha1.StepFailed:
		say("node %s: %s failed after %s%s%s", node, s.Name, print.Duration(stepTime(s, now)), again, detail(s.Message))
	}
}

func tellPhase(u *v1alpha1.NodeUpgrade, now time.Time, say func(string, ...any)) {
	node := u.Spec.Machine.Name
	row := Row{FinishedAt: timeOf(u.Status.FinishedAt), StepTimes: stepTimes(u.Status.Steps)}
	switch u.Status.Phase {
	case v1alpha1.NodeCompleted:
		say("node %s: completed, runs %s%s", node, u.Spec.KubernetesVersion, after(row.Elapsed(now)))
	case v1alpha1.NodeFailed:
		say("node %s: failed at %s: see `refit logs %s`", node, u.Status.Step, node)
	case v1alpha1.NodeSkipped, v1alpha1.NodeAborted, v1alpha1.NodeStaged, v1alpha1.NodeStaging, v1alpha1.NodeUpgrading:
		say("node %s: %s", node, u.Status.Phase)
	}
}

func after(elapsed string) string {
	if elapsed == "" {
		return ""
	}
	return " after " + elapsed
}

func stepTime(s v1alpha1.StepStatus, now time.Time) time.Duration {
	switch {
	case s.StartedAt == nil:
		return 0
	case s.FinishedAt == nil:
		return now.Sub(s.StartedAt.Time)
	}
	return s.FinishedAt.Sub(s.StartedAt.Time)
}

func detail(message string) string {
	if message == "" {
		return ""
	}
	return ": " + message
}

func nodesDone(u *v1alpha1.KubernetesUpgrade) string {
	if u.Status.Nodes.Total == 0 {
		return ""
	}
	return fmt.Sprintf(" (%d of %d nodes upgraded)", u.Status.Nodes.Upgraded, u.Status.Nodes.Total)
}

// sortedUpgrades are the NodeUpgrades of an upgrade, in the order in which they began.
func sortedUpgrades(all []v1alpha1.NodeUpgrade, upgrade string) []*v1alpha1.NodeUpgrade {
	var out []*v1alpha1.NodeUpgrade
	for i := range all {
		if all[i].Labels[v1alpha1.LabelUpgrade] == upgrade {
			out = append(out, &all[i])
		}
	}
	slices.SortStableFunc(out, func(a, b *v1alpha1.NodeUpgrade) int {
		return a.CreationTimestamp.Compare(b.CreationTimestamp.Time)
	})
	return out
}
