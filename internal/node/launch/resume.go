package launch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/node/host"
	"refit.dev/refit/internal/node/replace"
	"refit.dev/refit/internal/node/spec"
)

// inFlight is the step that changes the host now. It is on disk so that the host goes on with it after a power cut, even where
// no Pod can: a control plane's kubelet may need the very API server that the step has stopped.
type inFlight struct {
	UpgradeUID string            `json:"upgradeUID"`
	Step       v1alpha1.StepName `json:"step"`
	// Program of the host that runs the step.
	Program string `json:"program"`
	// Resumed counts the boots that have begun it again.
	Resumed int `json:"resumed"`
}

// maxResumes is how many boots in a row begin a step again that never ends.
const maxResumes = 5

// resumeService is started at each boot, and ends at once where no step is in flight.
const resumeService = `[Unit]
Description=Refit: go on with the step that a power cut interrupted
ConditionPathExists=` + spec.InFlightPath + `
After=containerd.service kubelet.service

[Service]
Type=oneshot
ExecStart=%s resume

[Install]
WantedBy=multi-user.target
`

// Begin notes, on the host itself, that a step changes it, and sees to it that a boot goes on with it.
func Begin(root, uid string, step v1alpha1.StepName) error {
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find the own program: %w", err)
	}
	now := inFlight{UpgradeUID: uid, Step: step, Program: program}
	var before inFlight
	if ok, err := readJSON(filepath.Join(root, spec.InFlightPath), &before); err == nil && ok && before.UpgradeUID == uid && before.Step == step {
		now.Resumed = before.Resumed
	}
	unit := fmt.Sprintf(resumeService, program)
	if have, err := os.ReadFile(filepath.Join(root, spec.ResumeUnit)); err != nil || string(have) != unit {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(root, spec.ResumeUnit)), 0o755); err != nil {
			return fmt.Errorf("install the unit that goes on after a power cut: %w", err)
		}
		if err := (replace.Replacer{Disk: replace.OS{}}).Content([]byte(unit), filepath.Join(root, spec.ResumeUnit), "", 0o644); err != nil {
			return fmt.Errorf("install the unit that goes on after a power cut: %w", err)
		}
	}
	wanted := filepath.Join(root, spec.ResumeWanted)
	if err := os.MkdirAll(filepath.Dir(wanted), 0o755); err != nil {
		return fmt.Errorf("enable the unit that goes on after a power cut: %w", err)
	}
	if err := os.Symlink(spec.ResumeUnit, wanted); err != nil && !errors.Is(err, os.ErrExist) {
		return fmt.Errorf("enable the unit that goes on after a power cut: %w", err)
	}
	if err := (replace.OS{}).SyncFolder(filepath.Dir(wanted)); err != nil {
		return err
	}
	return writeJSON(filepath.Join(root, spec.InFlightPath), now)
}

// End notes that a step has ended, with its result.
func End(root, uid string, step v1alpha1.StepName, r Result) error {
	if err := writeJSON(resultPath(root, uid, step), r); err != nil {
		return err
	}
	return errors.Join(replace.OS{}.Remove(filepath.Join(root, spec.InFlightPath)), replace.OS{}.SyncFolder(filepath.Join(root, spec.StateDir)))
}

// Resume starts the unit of the step that a power cut interrupted, if any.
func Resume(ctx context.Context, root string, systemd host.Systemd) (string, error) {
	var was inFlight
	file := filepath.Join(root, spec.InFlightPath)
	if ok, err := readJSON(file, &was); err != nil || !ok {
		return "no step was in flight", err
	}
	if was.Resumed >= maxResumes {
		return "", fmt.Errorf("step %s of upgrade %s was begun again after %d boots and never ended: not again; its log is %s",
			was.Step, was.UpgradeUID, was.Resumed, spec.LogPath(was.UpgradeUID, string(was.Step)))
	}
	s, _, err := Load(root, was.UpgradeUID)
	if err != nil {
		return "", err
	}
	was.Resumed++
	if err := writeJSON(file, was); err != nil {
		return "", err
	}
	if state, err := systemd.State(ctx, unitName(was.Step)); err != nil || state.Running() {
		return "step " + string(was.Step) + " runs already", err
	}
	return fmt.Sprintf("going on with step %s of upgrade %s", was.Step, was.UpgradeUID), startUnit(ctx, systemd, was.Program, &s, was.Step)
}

const (
	// inFlightWait is how long the step that is in flight may take to end.
	inFlightWait  = 30 * time.Minute
	inFlightEvery = time.Second
)

// AwaitInFlight waits while the host is at another step than the given one, as it may be after a power cut: the steps of a new Pod
// come after that.
func (l Launcher) AwaitInFlight(ctx context.Context, step v1alpha1.StepName) error {
	ticker := l.Clock.NewTicker(inFlightEvery)
	defer ticker.Stop()
	deadline, said := l.Clock.Now().Add(inFlightWait), false
	for {
		was, running, err := running(ctx, l.Root, l.Systemd)
		if err != nil || !running || (was.UpgradeUID == l.Spec.UpgradeUID && was.Step == step) {
			return err
		}
		if l.Clock.Now().After(deadline) {
			return fmt.Errorf("step %s of upgrade %s has been running on the host for more than %s; see `systemctl status %s` on the node",
				was.Step, was.UpgradeUID, inFlightWait, unitName(was.Step))
		}
		if !said {
			l.say("waiting for step %s, which is running on the host", was.Step)
			said = true
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w: this container was told to end: %w", ErrInterrupted, context.Cause(ctx))
		case <-ticker.C():
		}
	}
}

// running says which step is in flight and whether the host is at it.
func running(ctx context.Context, root string, systemd host.Systemd) (inFlight, bool, error) {
	var was inFlight
	if ok, err := readJSON(filepath.Join(root, spec.InFlightPath), &was); err != nil || !ok {
		return was, false, err
	}
	state, err := systemd.State(ctx, unitName(was.Step))
	return was, state.Running(), err
}
