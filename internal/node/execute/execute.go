// Package execute runs one step of a node's upgrade to its end: under the node's lock, recorded in the journal.
package execute

import (
	"context"
	"fmt"
	"io"
	"path/filepath"

	"k8s.io/utils/clock"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/bundle"
	"refit.dev/refit/internal/node/host"
	"refit.dev/refit/internal/node/replace"
	"refit.dev/refit/internal/node/spec"
	"refit.dev/refit/internal/node/task"
	"refit.dev/refit/internal/sequence"
)

// Request is what to run, and where.
type Request struct {
	// Root is the host's root folder, as seen from here.
	Root string
	// Spec is what is asked for.
	Spec spec.Spec
	// Bundle is what the version consists of.
	Bundle bundle.Manifest
	// Output gets the log; the log file on the host gets it, too.
	Output io.Writer
	// Clock tells the time.
	Clock clock.WithTicker
	// Systemd is the host's.
	Systemd host.Systemd
	// Answers asks the API server that the step asks; nil for the one that the node's own credentials are for.
	Answers Answers
}

// Make makes a step for a task.
type Make func(*task.Task) sequence.Step

// Step runs a step and returns what it did.
func Step(ctx context.Context, req Request, name v1alpha1.StepName, makeStep Make) (message string, err error) {
	lock, err := takeLock(ctx, req.Root, req.Clock)
	if err != nil {
		return "", err
	}
	defer lock.Close()
	file, err := openLog(req.Root, req.Spec.UpgradeUID, string(name))
	if err != nil {
		return "", err
	}
	defer file.Close()
	log := host.NewLog(io.MultiWriter(req.Output, file), req.Clock)

	journal, err := sequence.OpenJournal(filepath.Join(req.Root, spec.JournalPath(req.Spec.UpgradeUID)))
	if err != nil {
		return "", err
	}
	defer journal.Close()
	runner := func(prefix string) *sequence.Runner {
		return &sequence.Runner{Journal: journal, Clock: req.Clock, Prefix: prefix, Say: func(r sequence.Record) { say(log, r) }}
	}
	t := &task.Task{
		Host: &host.Host{Root: req.Root, Systemd: req.Systemd, Clock: req.Clock, Log: log, Disk: replace.OS{}},
		Spec: req.Spec, Bundle: req.Bundle, Runner: runner,
	}
	log.Say("step %s of %s to %s, attempt %d", name, req.Spec.NodeName, req.Spec.Version, req.Spec.Attempt)
	answers := req.Answers
	if answers == nil {
		answers = fromHost(t)
	}
	return held(ctx, t, name, answers, func(ctx context.Context) (string, error) { return runner("").Run(ctx, makeStep(t)) })
}

func say(log *host.Log, r sequence.Record) {
	text := r.Step + ": " + string(r.Event)
	if r.Seconds > 0 {
		text += fmt.Sprintf(" in %.1fs", r.Seconds)
	}
	if r.Message != "" {
		text += ": " + r.Message
	}
	log.Say("%s", text)
}
