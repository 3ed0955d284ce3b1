package launch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"time"

	"k8s.io/utils/clock"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/bundle"
	"refit.dev/refit/internal/node/host"
	"refit.dev/refit/internal/node/replace"
	"refit.dev/refit/internal/node/spec"
)

// Launcher asks a host to run steps.
type Launcher struct {
	// Root is the host's root folder as seen from the container.
	Root string
	// Program is the file of refit-node in the container.
	Program string
	Spec    spec.Spec
	Bundle  bundle.Manifest
	// Output gets the step's log.
	Output io.Writer
	Clock  clock.WithTicker
	// Systemd is the host's.
	Systemd host.Systemd
}

// undeliveredFor is how long the failure of a step counts that ended while no container was there to hear of it.
const undeliveredFor = 15 * time.Minute

// ErrInterrupted says that the step was cut off, and did not end by itself.
var ErrInterrupted = errors.New("the step was cut off before it ended; it goes on where it was")

// Run has the host run a step, or joins the run that is under way, and returns how it ended.
func (l Launcher) Run(ctx context.Context, step v1alpha1.StepName) (Result, error) {
	state, err := l.Systemd.State(ctx, unitName(step))
	if err != nil {
		return Result{}, err
	}
	logFile := filepath.Join(l.Root, spec.LogPath(l.Spec.UpgradeUID, string(step)))
	follow := newFollower(logFile, l.Output)
	defer follow.close()
	if state.Running() {
		if state.Description != unitDescription(&l.Spec, step) {
			return Result{}, fmt.Errorf("%s is running for something else (%s): wait for it, or stop it with `systemctl stop %s` on the node",
				unitName(step), state.Description, unitName(step))
		}
		l.say("joining the run of %s that is under way on the host", step)
		return l.await(ctx, step, follow)
	}
	if earlier, err := l.undelivered(step); err != nil || earlier != nil {
		if earlier != nil {
			follow.drain()
			return *earlier, l.delivered(step)
		}
		return Result{}, err
	}
	follow.skip()
	program, err := l.prepare(step)
	if err != nil {
		return Result{}, err
	}
	if err := startUnit(ctx, l.Systemd, program, &l.Spec, step); err != nil {
		return Result{}, err
	}
	return l.await(ctx, step, follow)
}

// undelivered is the failure of a run that no container heard of. A success is not taken from a file: the step looks again.
func (l Launcher) undelivered(step v1alpha1.StepName) (*Result, error) {
	r, err := readResult(l.Root, l.Spec.UpgradeUID, step)
	if err != nil || r == nil || r.Code == spec.ExitDone || l.Clock.Since(r.Time) > undeliveredFor {
		return nil, err
	}
	return r, nil
}

// delivered forgets a result that was handed on.
func (l Launcher) delivered(step v1alpha1.StepName) error {
	return replace.OS{}.Remove(resultPath(l.Root, l.Spec.UpgradeUID, step))
}

// prepare puts the program and what it needs to know on the host, and returns the program's path there.
func (l Launcher) prepare(step v1alpha1.StepName) (string, error) {
	sum, err := replace.Sum(l.Program)
	if err != nil {
		return "", fmt.Errorf("read the own program: %w", err)
	}
	program := path.Join(spec.ProgramsDir, "node", sum, "refit-node")
	target := filepath.Join(l.Root, program)
	if have, err := replace.Sum(target); err != nil {
		return "", fmt.Errorf("read %s: %w", program, err)
	} else if have != sum {
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			return "", fmt.Errorf("create the folder of %s: %w", program, err)
		}
		if err := (replace.Replacer{Disk: replace.OS{}}).File(l.Program, target, "", 0o755); err != nil {
			return "", err
		}
	}
	err = errors.Join(
		writeJSON(specPath(l.Root, l.Spec.UpgradeUID), l.Spec),
		writeJSON(bundlePath(l.Root, l.Spec.UpgradeUID), l.Bundle),
		l.delivered(step))
	return program, err
}

const (
	followEvery = 250 * time.Millisecond
	// lostLooks is how many looks in a row must find neither a running unit nor a result.
	lostLooks = 8
)

func (l Launcher) await(ctx context.Context, step v1alpha1.StepName, follow *follower) (Result, error) {
	ticker := l.Clock.NewTicker(followEvery)
	defer ticker.Stop()
	for lost := 0; lost < lostLooks; {
		select {
		case <-ctx.Done():
			return Result{}, fmt.Errorf("%w: this container was told to end (%w), the step itself goes on on the host", ErrInterrupted, context.Cause(ctx))
		case <-ticker.C():
		}
		follow.drain()
		state, err := l.Systemd.State(ctx, unitName(step))
		if err == nil && state.Running() {
			lost = 0
			continue
		}
		r, err := readResult(l.Root, l.Spec.UpgradeUID, step)
		if err != nil {
			return Result{}, err
		}
		if r != nil {
			follow.drain()
			return *r, l.delivered(step)
		}
		lost++
	}
	return Result{}, fmt.Errorf("%w; its log is %s on the node", ErrInterrupted, spec.LogPath(l.Spec.UpgradeUID, string(step)))
}

func (l Launcher) say(format string, args ...any) {
	host.NewLog(l.Output, l.Clock).Say(format, args...)
}
