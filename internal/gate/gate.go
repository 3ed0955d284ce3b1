// Package gate decides, from one observation of a cluster, whether an upgrade may go on. Every gate is a pure function and
// names what it saw and what to do about it. What could not be observed is closed, never open.
package gate

import (
	"fmt"
	"slices"
	"strings"

	"refit.dev/refit/internal/snapshot"
)

// Point is a moment of an upgrade at which gates are asked.
type Point string

// The points.
const (
	// BeforeStart is before anything is done for the upgrade.
	BeforeStart Point = "BeforeStart"
	// BeforeControlPlane is before the control plane Input.Node is taken out of service.
	BeforeControlPlane Point = "BeforeControlPlane"
	// BeforeWorkers is before further workers are taken out of service.
	BeforeWorkers Point = "BeforeWorkers"
	// AfterEnd is when every node runs the version, before the upgrade is called complete.
	AfterEnd Point = "AfterEnd"
)

// Level says how much a verdict weighs.
type Level string

// The levels of a verdict.
const (
	// OK: nothing to say.
	OK Level = "ok"
	// Warning: worth an operator's eye, but does not close the gate.
	Warning Level = "warning"
	// Blocked: closes the gate.
	Blocked Level = "blocked"
	// Unknown: what the gate needs could not be observed; closes the gate.
	Unknown Level = "unknown"
)

// Verdict is what one gate found.
type Verdict struct {
	// Gate is the name by which it is excluded.
	Gate string `json:"gate"`
	// Level of what was found, also where the gate is excluded.
	Level Level `json:"level"`
	// Excluded says that the operator has the gate not hold the upgrade up.
	Excluded bool `json:"excluded,omitempty"`
	// Message names what was seen and, unless all is well, what to do.
	Message string `json:"message"`
	// Objects that the message is about: nodes, members, webhooks, in order.
	Objects []string `json:"objects,omitempty"`
}

// Open says whether the upgrade may go on as far as this gate is concerned.
func (v Verdict) Open() bool { return v.Excluded || v.Level == OK || v.Level == Warning }

// String is the verdict in a line.
func (v Verdict) String() string { return v.Gate + ": " + v.Message }

// Input is what gates look at.
type Input struct {
	Cluster *snapshot.Cluster
	// Upgrade is the name of the KubernetesUpgrade that asks, which is not "another one"; empty before there is one.
	Upgrade string
	// Target is the version that the upgrade ends at.
	Target string
	// Hop is the version that control planes are being brought to; the first hop before the start.
	Hop string
	// Hops are the versions that control planes are brought to, in order; nil where there is no path.
	Hops []string
	// Node is the control plane that is about to be taken out of service, at BeforeControlPlane.
	Node string
	// Repair says that an earlier attempt left Node half-way, so that its own troubles must not keep the next attempt away.
	Repair bool
	// MaxUnavailable is the number of workers that may be out of service at once.
	MaxUnavailable int
	// Excluded are the names of gates that do not hold this upgrade up.
	Excluded []string
}

// forgives says that troubles of the node do not count, because the step is there to end them.
func (in Input) forgives(node string) bool { return in.Repair && node == in.Node }

// check is one gate: a name, the points at which it is asked, and the function that looks.
type check struct {
	name   string
	points []Point
	look   func(Point, Input) Verdict
}

// Names are the names of all gates, in the order in which they are asked.
func Names() []string {
	names := make([]string, 0, len(checks))
	for _, c := range checks {
		names = append(names, c.name)
	}
	return names
}

// UnknownNames are those among the names that are no gate: an excluded gate that does not exist is a typing error.
func UnknownNames(names []string) []string {
	known := Names()
	var unknown []string
	for _, n := range names {
		if !slices.Contains(known, n) {
			unknown = append(unknown, n)
		}
	}
	return unknown
}

// Evaluate asks every gate of the point, in order.
func Evaluate(p Point, in Input) []Verdict {
	var out []Verdict
	for _, c := range checks {
		if !slices.Contains(c.points, p) {
			continue
		}
		v := c.look(p, in)
		v.Gate = c.name
		v.Excluded = slices.Contains(in.Excluded, c.name)
		out = append(out, v)
	}
	return out
}

// Closed are those among the verdicts that hold the upgrade up.
func Closed(all []Verdict) []Verdict {
	var out []Verdict
	for _, v := range all {
		if !v.Open() {
			out = append(out, v)
		}
	}
	return out
}

// Summary says in a line which gates are closed and what they saw, empty where none is.
func Summary(all []Verdict) string {
	var parts []string
	for _, v := range Closed(all) {
		parts = append(parts, fmt.Sprintf("gate %s", v))
	}
	return strings.Join(parts, "; ")
}
