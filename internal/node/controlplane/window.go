package controlplane

import (
	"context"
	"fmt"
	"time"

	"refit.dev/refit/internal/node/host"
	"refit.dev/refit/internal/node/kubelet"
	"refit.dev/refit/internal/node/programs"
	"refit.dev/refit/internal/node/task"
	"refit.dev/refit/internal/sequence"
)

const (
	// stopDeadline bounds the end of the static pods, the longest shutdown-delay-duration in use included.
	stopDeadline = 5 * time.Minute
	// swapDeadline bounds the renames.
	swapDeadline = time.Minute
	// startDeadline bounds the start of the kubelet and of the static pods, until etcd serves and the API server is ready.
	startDeadline = 5 * time.Minute
	// podEvery is how often a pod that starts is looked at.
	podEvery = 300 * time.Millisecond
	// etcdGrace and controllerGrace are what the pods are given to end.
	etcdGrace, controllerGrace = 30 * time.Second, 10 * time.Second
)

// Window is the time in which the static pods of a control plane do not run: what they are made of is changed in it, all at once.
//
// The kubelet is stopped first, so that nothing restarts what ends. The API server ends gracefully while its etcd still serves,
// then the rest, as far as it has to. Then the files are swapped, each by a rename, in an order in which every prefix is a legal mix of versions: etcd,
// API server, controller manager, scheduler, kubelet. Then the kubelet starts, and starts the rest. No manifest is ever
// missing, so a host whose power is cut in the window comes back by itself, with some files old and some new.
type Window struct {
	*task.Task
	prefix    string
	manifests bool
	programs  programs.Set
}

// NewWindow is a window that changes nothing yet. The prefix goes before its stages in the journal.
func NewWindow(t *task.Task, prefix string) Window { return Window{Task: t, prefix: prefix} }

// WithManifests also puts in the manifests that were rendered.
func (w Window) WithManifests() Window {
	w.manifests = true
	return w
}

// WithPrograms also puts in the kubelet and kubectl.
func (w Window) WithPrograms(set programs.Set) Window {
	w.programs = set
	return w
}

// Name is the step's.
func (Window) Name() string { return "window" }

// Deadline bounds all stages.
func (Window) Deadline() time.Duration { return stopDeadline + swapDeadline + startDeadline }

// Done says whether every stage is.
func (w Window) Done(ctx context.Context) (bool, string, error) {
	for _, stage := range w.stages() {
		if done, message, err := stage.Done(ctx); err != nil || !done {
			return false, message, err
		}
	}
	return true, "everything is swapped; etcd, the API server and the kubelet run", nil
}

// Run goes through the stages.
func (w Window) Run(ctx context.Context) (string, error) {
	if len(w.programs.Items) > 0 {
		if err := w.programs.Stage(ctx); err != nil {
			return "", err
		}
	}
	return w.Runner(w.prefix).Run(ctx, w.stages()...)
}

func (w Window) stages() []sequence.Step {
	return []sequence.Step{
		sequence.Func{Label: "stop", Within: stopDeadline, IsDone: w.stopped, Do: w.stop},
		sequence.Func{Label: "swap", Within: swapDeadline, IsDone: w.swapped, Do: w.swap},
		sequence.Func{Label: "start", Within: startDeadline, IsDone: w.started, Do: w.start},
	}
}

// swapped says whether every file is the new one.
func (w Window) swapped(context.Context) (bool, string, error) {
	if w.manifests {
		changes, err := w.changes()
		if err != nil || len(changes) > 0 {
			return false, fmt.Sprintf("manifests to be swapped: %v", changes), err
		}
	}
	missing, err := w.programs.Missing()
	if err != nil || len(missing) > 0 {
		return false, fmt.Sprintf("programs to be swapped: %v", missing), err
	}
	return true, "every file is the new one", nil
}

func (w Window) swap(ctx context.Context) (string, error) {
	var changes []string
	if w.manifests {
		var err error
		if changes, err = w.changes(); err != nil {
			return "", err
		}
		for _, component := range changes {
			if err := w.put(component, newFolder(w.Task)); err != nil {
				return "", err
			}
		}
	}
	message := fmt.Sprintf("swapped the manifests of %v", changes)
	if len(w.programs.Items) == 0 {
		return message, nil
	}
	replaced, err := w.programs.Replace(ctx)
	return message + ", " + replaced, err
}

// started says whether what was swapped runs.
func (w Window) started(ctx context.Context) (bool, string, error) {
	program, err := w.KubeletProgram(ctx)
	if err != nil {
		return false, "", err
	}
	if why := kubelet.Runs(ctx, w.Task, program); why != "" {
		return false, why, nil
	}
	if why := Up(ctx, w.Task); why != "" {
		return false, why, nil
	}
	return true, "etcd, the API server and the kubelet run", nil
}

func (w Window) start(ctx context.Context) (string, error) {
	program, err := w.KubeletProgram(ctx)
	if err != nil {
		return "", err
	}
	// Where no static pod had to end, the old kubelet still runs.
	if err := w.Systemd.Restart(ctx, host.KubeletUnit); err != nil {
		return "", err
	}
	if err := kubelet.Await(ctx, w.Task, program); err != nil {
		return "", err
	}
	return "etcd, the API server and the kubelet run",
		w.Wait(ctx, "etcd and the API server", podEvery, startDeadline, func(ctx context.Context) string { return Up(ctx, w.Task) })
}
