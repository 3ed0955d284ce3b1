package controlplane

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/node/host"
	"refit.dev/refit/internal/node/kubelet"
	"refit.dev/refit/internal/node/programs"
	"refit.dev/refit/internal/node/spec"
	"refit.dev/refit/internal/node/staticpod"
	"refit.dev/refit/internal/node/task"
	"refit.dev/refit/internal/sequence"
)

// Kubeadm replaces kubeadm and has it upgrade the node.
type Kubeadm struct {
	*task.Task
	run *run
}

// NewKubeadm is the step.
func NewKubeadm(t *task.Task) Kubeadm { return Kubeadm{Task: t, run: &run{}} }

// Name is the step's.
func (Kubeadm) Name() string { return string(v1alpha1.StepKubeadm) }

// Deadline bounds the step.
func (k Kubeadm) Deadline() time.Duration { return k.Spec.Deadline(v1alpha1.StepKubeadm) }

// Done looks at kubeadm, at the static pods, and at what kubeadm keeps of the node and the cluster.
func (k Kubeadm) Done(ctx context.Context) (bool, string, error) {
	set, err := k.set(ctx)
	if err != nil {
		return false, "", err
	}
	if missing, err := set.Missing(); err != nil || len(missing) > 0 {
		return false, "differs from the bundle: " + strings.Join(missing, ", "), err
	}
	if k.Spec.ControlPlane() {
		if why, err := AtVersion(ctx, k.Task); err != nil || why != "" {
			return false, why, err
		}
	}
	if done, why, err := k.upgraded(ctx); err != nil || !done {
		return false, why, err
	}
	return true, "kubeadm has brought this node to " + k.Spec.Version, nil
}

// Run goes through the stages.
func (k Kubeadm) Run(ctx context.Context) (string, error) {
	began := k.Clock.Now()
	set, err := k.set(ctx)
	if err != nil {
		return "", err
	}
	runner := k.Runner("kubeadm/")
	if _, err := runner.Run(ctx, install{set}); err != nil {
		return "", err
	}
	if k.Spec.ControlPlane() {
		if err := k.controlPlane(ctx, runner); err != nil {
			return "", err
		}
	}
	if _, err := runner.Run(ctx, sequence.Func{Label: "upgrade", Within: 6 * time.Minute, IsDone: k.upgraded, Do: k.upgrade}); err != nil {
		return "", err
	}
	if k.Spec.ControlPlane() {
		_, err := runner.Run(ctx, sequence.Func{Label: "controllers-run", Within: podDeadline, IsDone: k.controllersRun, Do: k.awaitControllers})
		if err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("kubeadm has brought this node to %s in %s", k.Spec.Version, k.Clock.Since(began).Round(time.Second)), nil
}

// controlPlane brings the static pods, and where it can the kubelet, to the version.
func (k Kubeadm) controlPlane(ctx context.Context, runner *sequence.Runner) error {
	// What follows asks the manifests, so they come first.
	whole := sequence.Func{Label: "whole-manifests", Within: 5 * time.Minute, IsDone: k.manifestsWhole, Do: k.makeWhole}
	if _, err := runner.Run(ctx, whole); err != nil {
		return err
	}
	window := NewWindow(k.Task, "kubeadm/window/").WithManifests()
	local, err := kubeletIsLocal(k.Task)
	if err != nil {
		return err
	}
	if local {
		set, _, err := kubelet.Programs(ctx, k.Task)
		if err != nil {
			return err
		}
		window = window.WithPrograms(set)
	}
	_, err = runner.Run(ctx,
		sequence.Func{Label: "check", Within: 6 * time.Minute, IsDone: k.checked, Do: k.check},
		sequence.Func{Label: "render", Within: 3 * time.Minute, IsDone: k.rendered, Do: k.render},
		sequence.Func{Label: "certificates", Within: 3 * time.Minute, IsDone: k.renewed, Do: k.renew},
		sequence.Func{Label: "kubelet-settings", Within: 4 * time.Minute, IsDone: k.settled, Do: k.settle},
		window)
	return err
}

func (k Kubeadm) set(ctx context.Context) (programs.Set, error) {
	kubelet, err := k.KubeletProgram(ctx)
	if err != nil {
		return programs.Set{}, err
	}
	return programs.Set{Task: k.Task, Group: "kubeadm", Items: []programs.Item{
		{File: "bin/kubeadm", Target: k.Beside(kubelet, "kubeadm"), VersionArgs: []string{"version", "-o", "short"}},
	}}, nil
}

// install replaces kubeadm itself.
type install struct{ programs.Set }

func (install) Name() string            { return "install" }
func (install) Deadline() time.Duration { return 3 * time.Minute }

func (i install) Done(context.Context) (bool, string, error) {
	missing, err := i.Missing()
	return err == nil && len(missing) == 0, strings.Join(missing, ", "), err
}

func (i install) Run(ctx context.Context) (string, error) { return i.Replace(ctx) }

// kubeadm runs the new kubeadm.
func (k Kubeadm) kubeadm(ctx context.Context, deadline time.Duration, args ...string) error {
	folder, err := staticpod.Folder(k.Task)
	if err != nil {
		return err
	}
	m, _, err := staticpod.Read(k.Task, folder, staticpod.APIServer)
	if err != nil {
		return err
	}
	_, err = k.Task.Run(ctx, host.Command{Program: k.Staged("bin/kubeadm"), Args: args, Deadline: deadline, Env: proxyEnv(m)})
	return err
}

// upgradeArgs are those of the command that upgrades the node, `apply` on the first control plane and `node` elsewhere.
func (k Kubeadm) upgradeArgs(rest ...string) ([]string, error) {
	args := []string{"upgrade", "node"}
	if k.Spec.First && k.Spec.ControlPlane() {
		args = []string{"upgrade", "apply"}
	}
	args = append(args, rest...)
	if there, err := k.Exists(UpgradeConfig); err != nil {
		return nil, err
	} else if there {
		return append(args, "--config", UpgradeConfig), nil
	}
	return args, nil
}

// ignored are flags for the checks of kubeadm that the operator has answered already. Where the kubelet was told to run on
// cgroup v1, kubeadm wants to be told as well, by leaving out its check of the system; step preflight has looked at the cgroups.
func (k Kubeadm) ignored() ([]string, error) {
	settings, err := k.Kubelet()
	if err != nil || settings.FailCgroupV1 == nil || *settings.FailCgroupV1 {
		return nil, err
	}
	return []string{"--ignore-preflight-errors", "SystemVerification"}, nil
}

const (
	// kubeadmAttempts and kubeadmPause bound the retries of kubeadm's own commands: after 5 and 10 s.
	kubeadmAttempts = 3
	kubeadmPause    = 5 * time.Second
	// podDeadline bounds the start of the controller manager and the scheduler.
	podDeadline = 3 * time.Minute
)

// again says whether kubeadm may succeed when it is asked again. Nearly all that it asks is of the API server, which may just be
// away, and it says so in many ways; only a check that it has failed on purpose stays failed.
func again(err error) bool {
	var failed *host.CommandError
	return errors.As(err, &failed) && !strings.Contains(failed.Output, "[preflight] Some fatal errors occurred") &&
		!strings.Contains(failed.Output, "the version argument is invalid")
}

const upgradeMarker = "kubeadm-upgraded"

// upgraded: kubeadm said so, and what it keeps in the cluster agrees.
func (k Kubeadm) upgraded(ctx context.Context) (bool, string, error) {
	if there, err := k.Exists(k.State(upgradeMarker)); err != nil || !there {
		return false, "`kubeadm upgrade` has not ended yet", err
	}
	if !k.Spec.First || !k.Spec.ControlPlane() {
		return true, "`kubeadm upgrade node` has ended", nil
	}
	cluster, err := ClusterConfiguration(ctx, k.Task)
	if err != nil {
		return false, "", err
	}
	if at, _ := cluster["kubernetesVersion"].(string); at != k.Spec.Version {
		return false, "ConfigMap kubeadm-config says " + at, nil
	}
	return true, "`kubeadm upgrade apply` has ended, and ConfigMap kubeadm-config says " + k.Spec.Version, nil
}

func (k Kubeadm) upgrade(ctx context.Context) (string, error) {
	var rest []string
	if k.Spec.First && k.Spec.ControlPlane() {
		rest = append(rest, k.Spec.Version, "--yes")
	}
	ignored, err := k.ignored()
	if err != nil {
		return "", err
	}
	rest = append(rest, ignored...)
	if k.Spec.ControlPlane() {
		// The checks were made before anything changed.
		rest = append(rest, "--skip-phases", "preflight")
	}
	args, err := k.upgradeArgs(rest...)
	if err != nil {
		return "", err
	}
	err = k.Retry(ctx, "kubeadm upgrade", kubeadmAttempts, kubeadmPause, again, func(ctx context.Context) error {
		return k.kubeadm(ctx, 5*time.Minute, args...)
	})
	if err != nil {
		return "", err
	}
	if err := k.MakeFolder(spec.UpgradeDir(k.Spec.UpgradeUID)); err != nil {
		return "", err
	}
	return "kubeadm " + strings.Join(args, " ") + " has ended",
		k.Replacer().Content([]byte(k.Spec.Version+"\n"), k.Path(k.State(upgradeMarker)), "", 0o600)
}

func (k Kubeadm) controllersRun(ctx context.Context) (bool, string, error) {
	if why := controllersUp(ctx, k.Task); why != "" {
		return false, why, nil
	}
	return true, "the controller manager and the scheduler run", nil
}

func (k Kubeadm) awaitControllers(ctx context.Context) (string, error) {
	return "the controller manager and the scheduler run",
		k.Wait(ctx, "the controller manager and the scheduler", podEvery, podDeadline,
			func(ctx context.Context) string { return controllersUp(ctx, k.Task) })
}
