// Package preflight looks for whatever would make a node's upgrade fail or go wrong, before anything changes.
package preflight

import (
	"context"
	"fmt"
	"strings"
	"time"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/node/spec"
	"refit.dev/refit/internal/node/task"
)

// Finding is what a check found.
type Finding struct {
	// Refuse keeps the upgrade from starting; otherwise it is a warning.
	Refuse bool
	// Text says what was found and what to do.
	Text string
}

func refuse(format string, args ...any) Finding {
	return Finding{Refuse: true, Text: fmt.Sprintf(format, args...)}
}

func warn(format string, args ...any) Finding { return Finding{Text: fmt.Sprintf(format, args...)} }

// check looks at one thing. An error means that it could not be seen, such as while an API server restarts: that is a failure,
// which may be tried again, and no refusal.
type check struct {
	name string
	look func(ctx context.Context) ([]Finding, error)
}

// Preflight makes all checks and tells all findings together. It changes nothing.
type Preflight struct {
	*task.Task
	// passed is set by Run, so that Done need not look twice.
	passed *string
}

// New is the step.
func New(t *task.Task) Preflight { return Preflight{Task: t, passed: new(string)} }

// Name is the step's.
func (Preflight) Name() string { return string(v1alpha1.StepPreflight) }

// Deadline bounds all checks together.
func (p Preflight) Deadline() time.Duration { return p.Spec.Deadline(v1alpha1.StepPreflight) }

// Done: checks are made at every attempt.
func (p Preflight) Done(context.Context) (bool, string, error) {
	return *p.passed != "", *p.passed, nil
}

// Run makes the checks.
func (p Preflight) Run(ctx context.Context) (string, error) {
	var refusals, warnings, unseen []string
	checks := p.checks()
	for _, c := range checks {
		findings, err := p.look(ctx, c)
		if err != nil {
			p.Log.Say("%s: could not be checked: %v", c.name, err)
			unseen = append(unseen, fmt.Sprintf("%s: could not be checked: %v", c.name, err))
			continue
		}
		for _, f := range findings {
			if f.Refuse {
				p.Log.Say("%s: REFUSED: %s", c.name, f.Text)
				refusals = append(refusals, f.Text)
			} else {
				p.Log.Say("%s: warning: %s", c.name, f.Text)
				warnings = append(warnings, f.Text)
			}
		}
		if len(findings) == 0 {
			p.Log.Say("%s: good", c.name)
		}
	}
	if len(refusals) > 0 {
		return "", spec.Refusef("preflight refuses the upgrade, nothing was changed on the node: %s", numbered(append(refusals, unseen...)))
	}
	if len(unseen) > 0 {
		return "", fmt.Errorf("preflight could not see everything, nothing was changed on the node: %s", numbered(unseen))
	}
	message := fmt.Sprintf("%d checks passed", len(checks))
	if len(warnings) > 0 {
		message += "; warnings: " + numbered(warnings)
	}
	*p.passed = message
	return message, nil
}

// attempts and firstPause bound how often something is looked at that cannot be seen: for a quarter of a minute.
const (
	attempts   = 5
	firstPause = time.Second
)

func (p Preflight) look(ctx context.Context, c check) (findings []Finding, err error) {
	always := func(error) bool { return ctx.Err() == nil }
	err = p.Retry(ctx, c.name, attempts, firstPause, always, func(ctx context.Context) error {
		findings, err = c.look(ctx)
		return err
	})
	return findings, err
}

func numbered(texts []string) string {
	if len(texts) == 1 {
		return texts[0]
	}
	var b strings.Builder
	for i, text := range texts {
		fmt.Fprintf(&b, "(%d) %s ", i+1, text)
	}
	return strings.TrimSpace(b.String())
}

func (p Preflight) checks() []check {
	checks := []check{
		{"kubeadm's settings", p.settings},
		{"node name", p.nodeName},
		{"programs", p.programs},
		{"disk", p.disk},
		{"cgroups", p.cgroups},
		{"container runtime", p.runtime},
		{"cluster and clock", p.clock},
		{"certificates", p.certificates},
	}
	if p.Spec.ControlPlane() {
		checks = append(checks,
			check{"static pods", p.staticPods},
			check{"etcd's version", p.etcd},
			check{"etcd and API server", p.apiServer},
			check{"drift", p.drift})
	}
	return checks
}
