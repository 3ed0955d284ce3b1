// Package kubelet knows the kubelet of a host: its programs, and whether the one that runs is the one on disk and healthy.
package kubelet

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"refit.dev/refit/internal/node/host"
	"refit.dev/refit/internal/node/programs"
	"refit.dev/refit/internal/node/task"
)

const (
	// upDeadline bounds the start of a kubelet until it is healthy.
	upDeadline = 2 * time.Minute
	// stableFor is how long a healthy kubelet must stay the same process.
	stableFor = 3 * time.Second
	// maxRestarts is how often systemd may restart a new kubelet before it counts as one that does not come up.
	maxRestarts = 3
	lookEvery   = 500 * time.Millisecond
)

// Programs are the kubelet and kubectl, and the path of the former.
func Programs(ctx context.Context, t *task.Task) (programs.Set, string, error) {
	program, err := t.KubeletProgram(ctx)
	if err != nil {
		return programs.Set{}, "", err
	}
	return programs.Set{Task: t, Group: "kubelet", Items: []programs.Item{
		{File: "bin/kubelet", Target: program, VersionArgs: []string{"--version"}},
		{File: "bin/kubectl", Target: t.Beside(program, "kubectl"), VersionArgs: []string{"version", "--client"}},
	}}, program, nil
}

// ChangesMinor says whether the bundle's kubelet is of another minor version than the one on disk. One that does not tell its
// version counts as another.
func ChangesMinor(ctx context.Context, t *task.Task) (bool, error) {
	program, err := t.KubeletProgram(ctx)
	if err != nil {
		return false, err
	}
	if ok, err := t.Installed("bin/kubelet", program); err != nil || ok {
		return false, err
	}
	version, err := t.ProgramVersion(ctx, program, "--version")
	if err != nil {
		t.Log.Say("the old kubelet does not tell its version: %v", err)
		return true, nil
	}
	return task.Minor(version) != task.Minor(t.Spec.Version), nil
}

// Await waits until the kubelet is healthy and stays the same process for a while.
func Await(ctx context.Context, t *task.Task, program string) error {
	first, err := t.Systemd.State(ctx, host.KubeletUnit)
	if err != nil {
		return err
	}
	w := watch{Task: t, program: program, restarts: first.Restarts}
	if err := t.Wait(ctx, "the kubelet", lookEvery, upDeadline, w.missing); err != nil {
		return fmt.Errorf("%w; see `journalctl -u kubelet`", err)
	}
	return w.gaveUp
}

// watch is what Await has seen so far.
type watch struct {
	*task.Task
	program  string
	restarts uint32
	pid      int
	since    time.Time
	gaveUp   error
}

func (w *watch) missing(ctx context.Context) string {
	state, err := w.Systemd.State(ctx, host.KubeletUnit)
	if err != nil {
		return err.Error()
	}
	if state.Restarts >= w.restarts+maxRestarts {
		w.gaveUp = errors.New("the kubelet ends as soon as it is started; see `journalctl -u kubelet`")
		return ""
	}
	if why := Runs(ctx, w.Task, w.program); why != "" {
		w.since = time.Time{}
		return why
	}
	if w.since.IsZero() || state.MainPID != w.pid {
		w.since, w.pid = w.Clock.Now(), state.MainPID
	}
	if w.Clock.Since(w.since) < stableFor {
		return "healthy, to stay so for " + stableFor.String()
	}
	return ""
}

// Runs says what keeps the installed kubelet from being the one that runs and is healthy; nothing means that it is.
func Runs(ctx context.Context, t *task.Task, program string) string {
	state, err := t.Systemd.State(ctx, host.KubeletUnit)
	if err != nil {
		return err.Error()
	}
	if state.Active != "active" || state.MainPID == 0 {
		return fmt.Sprintf("kubelet.service is %s (%s)", state.Active, state.Result)
	}
	running, err := host.ProcessProgram(t.Root, state.MainPID)
	if err != nil {
		return err.Error()
	}
	if strings.HasSuffix(running, " (deleted)") {
		return "the kubelet that runs is not the one on disk any more, " + program
	}
	return healthy(ctx, t)
}

func healthy(ctx context.Context, t *task.Task) string {
	settings, err := t.Kubelet()
	if err != nil {
		return err.Error()
	}
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("http://127.0.0.1:%d/healthz", settings.HealthzPort), nil)
	if err != nil {
		return err.Error()
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err.Error()
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return fmt.Sprintf("its health check answers %d", res.StatusCode)
	}
	return ""
}
