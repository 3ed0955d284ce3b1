// Package windows says what the maintenance windows to come would bring. It has no rule of its own: it asks package schedule when they
// come, and package maintenance what would be decided at each.
package windows

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"refit.dev/refit/api/managedupgrade/v1beta1"
)

// Name of an object in a namespace.
type Name struct {
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
}

// NameOf is the name of an object.
func NameOf(o metav1.Object) Name { return Name{Namespace: o.GetNamespace(), Name: o.GetName()} }

// String is namespace/name, or the name alone where there is no namespace.
func (n Name) String() string {
	if n.Namespace == "" {
		return n.Name
	}
	return n.Namespace + "/" + n.Name
}

// The two things that can be suspended.
const (
	// JobNotCreated: no job is created for the window.
	JobNotCreated = "JobNotCreated"
	// JobSkipped: the job is created, and skipped when it would start.
	JobSkipped = "JobSkipped"
)

// Suspension is why nothing is upgraded in a window.
type Suspension struct {
	// Kind is config, for spec.schedule.suspend, or window, for an UpgradeSuspensionWindow.
	Kind   string      `json:"kind"`
	Name   string      `json:"name"`
	Until  metav1.Time `json:"until,omitzero"`
	Reason string      `json:"reason,omitempty"`
	// What is suspended: JobNotCreated or JobSkipped.
	What string `json:"what"`
}

// Window is a maintenance window of an UpgradeConfig, and what would happen in it.
type Window struct {
	Config Name        `json:"config"`
	Start  metav1.Time `json:"start,omitzero"`
	// StartLocal is the start on the config's clock.
	StartLocal string `json:"startLocal,omitempty"`
	// Week is that of ISO 8601, on the config's clock, e.g. 2026-W49.
	Week string `json:"week,omitempty"`
	// JobCreated is when the version is pinned and the job created.
	JobCreated  metav1.Time `json:"jobCreated,omitzero"`
	StartBefore metav1.Time `json:"startBefore,omitzero"`
	Version     string      `json:"version,omitempty"`
	SuspendedBy *Suspension `json:"suspendedBy,omitempty"`
	// Job that was created for the window.
	Job string `json:"job,omitempty"`
	// Action is what would happen, in words.
	Action string `json:"action,omitempty"`
	// Note tells of a clock change.
	Note string `json:"note,omitempty"`
	// Problem is what is wrong with the schedule; there is no window then.
	Problem string `json:"problem,omitempty"`

	local *time.Location
	// unpinned is what stands for the version where there is none.
	unpinned string
}

// Invalid stands for the windows of a config whose schedule is wrong.
func Invalid(c *v1beta1.UpgradeConfig, err error) Window {
	return Window{Config: NameOf(c), Problem: fmt.Sprintf("spec.%v", err)}
}

// Sort puts windows in the order of their starts.
func Sort(all []Window) {
	slices.SortStableFunc(all, func(a, b Window) int {
		return cmp.Or(a.Start.Compare(b.Start.Time), cmp.Compare(a.Config.String(), b.Config.String()))
	})
}
