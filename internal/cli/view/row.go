// Package view works out what a person is shown of an upgrade: a row for each node, a line for each thing that happens,
// and the live screen made of them.
package view

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/cli/print"
	"refit.dev/refit/internal/node/spec"
)

// Row is what is shown of one node.
type Row struct {
	Node string `json:"node"`
	// Role is "control plane" or "worker".
	Role string `json:"role"`
	// Ready is yes, no, cordoned or "no, cordoned".
	Ready string `json:"ready"`
	// Version and Runtime as the node reports them.
	Version string `json:"version"`
	Runtime string `json:"runtime,omitempty"`
	// Group of the upgrade's plan; empty for control planes, and where the plan has no groups.
	Group string `json:"group,omitempty"`
	// Target is the version that the latest NodeUpgrade brings the node to.
	Target string                    `json:"target,omitempty"`
	Phase  v1alpha1.NodeUpgradePhase `json:"phase,omitempty"`
	Step   v1alpha1.StepName         `json:"step,omitempty"`
	// Position of the step, from 1, of how many Steps there are; 0 where there is no step under way.
	Position int    `json:"position,omitempty"`
	Steps    int    `json:"steps,omitempty"`
	Message  string `json:"message,omitempty"`
	Pod      string `json:"pod,omitempty"`
	// StepTimes are the steps that have begun.
	StepTimes []StepTime `json:"stepTimes,omitempty"`
	// StartedAt and FinishedAt of the node's upgrade, zero where there is none.
	StartedAt  time.Time `json:"startedAt,omitzero"`
	FinishedAt time.Time `json:"finishedAt,omitzero"`
}

// StepTime is when a step ran.
type StepTime struct {
	Name      v1alpha1.StepName  `json:"name"`
	State     v1alpha1.StepState `json:"state"`
	StartedAt time.Time          `json:"startedAt,omitzero"`
	// FinishedAt is zero while the step runs.
	FinishedAt time.Time `json:"finishedAt,omitzero"`
}

// Rows gives a row for each node, control planes first, by name, with the numbers in names compared as numbers.
func Rows(nodes []corev1.Node, upgrades []v1alpha1.NodeUpgrade) []Row {
	latest := map[string]*v1alpha1.NodeUpgrade{}
	for i := range upgrades {
		u := &upgrades[i]
		known := latest[u.Spec.Machine.Name]
		if known == nil || known.CreationTimestamp.Before(&u.CreationTimestamp) {
			latest[u.Spec.Machine.Name] = u
		}
	}
	rows := make([]Row, 0, len(nodes))
	for i := range nodes {
		rows = append(rows, newRow(&nodes[i], latest[nodes[i].Name]))
	}
	slices.SortFunc(rows, func(a, b Row) int {
		if a.Role != b.Role {
			return strings.Compare(a.Role, b.Role)
		}
		return naturally(a.Node, b.Node)
	})
	return rows
}

func newRow(node *corev1.Node, upgrade *v1alpha1.NodeUpgrade) Row {
	row := Row{Node: node.Name, Role: "worker", Ready: readiness(node),
		Version: node.Status.NodeInfo.KubeletVersion, Runtime: node.Status.NodeInfo.ContainerRuntimeVersion}
	if _, is := node.Labels["node-role.kubernetes.io/control-plane"]; is {
		row.Role = "control plane"
	}
	if upgrade == nil {
		return row
	}
	s := &upgrade.Status
	if s.NodeUID != "" && s.NodeUID != string(node.UID) {
		row.Message = fmt.Sprintf("another machine than the one of this name whose upgrade to %s was %s", upgrade.Spec.KubernetesVersion, s.Phase)
		return row
	}
	row.Target, row.Phase, row.Pod = upgrade.Spec.KubernetesVersion, s.Phase, s.Pod
	row.StartedAt, row.FinishedAt, row.StepTimes = timeOf(s.StartedAt), timeOf(s.FinishedAt), stepTimes(s.Steps)
	if s.Phase != v1alpha1.NodeCompleted {
		row.Step = s.Step
		row.Steps = len(s.Steps)
		row.Position = slices.IndexFunc(s.Steps, func(step v1alpha1.StepStatus) bool { return step.Name == s.Step }) + 1
	}
	if c := meta.FindStatusCondition(s.Conditions, v1alpha1.ConditionReady); c != nil {
		row.Message = c.Message
	}
	return row
}

func timeOf(t *metav1.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.Time
}

func stepTimes(steps []v1alpha1.StepStatus) []StepTime {
	var times []StepTime
	for _, s := range steps {
		if s.StartedAt != nil {
			times = append(times, StepTime{Name: s.Name, State: s.State, StartedAt: s.StartedAt.Time, FinishedAt: timeOf(s.FinishedAt)})
		}
	}
	return times
}

func readiness(node *corev1.Node) string {
	ready := "no"
	for _, c := range node.Status.Conditions {
		if c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue {
			ready = "yes"
		}
	}
	switch {
	case node.Spec.Unschedulable && ready == "yes":
		return "cordoned"
	case node.Spec.Unschedulable:
		return "no, cordoned"
	}
	return ready
}

// StepText is the step under way and where it is among them, e.g. "kubeadm (8/12)".
func (r Row) StepText() string {
	if r.Step == "" || r.Position == 0 {
		return string(r.Step)
	}
	return fmt.Sprintf("%s (%d/%d)", r.Step, r.Position, r.Steps)
}

// Elapsed is how long the node has been, or was, changed; staging and the wait for its turn do not count.
func (r Row) Elapsed(now time.Time) string {
	began := changedSince(r.StepTimes)
	switch {
	case began.IsZero():
		return ""
	case r.FinishedAt.IsZero():
		return print.Duration(now.Sub(began))
	}
	return print.Duration(r.FinishedAt.Sub(began))
}

// changedSince is when the first step began that changes the node, zero where none did. Those of the staging are done while
// the node is in service, maybe long before the others.
func changedSince(steps []StepTime) time.Time {
	staging := spec.StagingSteps()
	var began time.Time
	for _, s := range steps {
		if !slices.Contains(staging, s.Name) && (began.IsZero() || s.StartedAt.Before(began)) {
			began = s.StartedAt
		}
	}
	return began
}

// Took is how long a node that is done was changed, 0 where that is not known.
func Took(u *v1alpha1.NodeUpgrade) time.Duration {
	began := changedSince(stepTimes(u.Status.Steps))
	if u.Status.Phase != v1alpha1.NodeCompleted || began.IsZero() || u.Status.FinishedAt == nil {
		return 0
	}
	return u.Status.FinishedAt.Sub(began)
}
