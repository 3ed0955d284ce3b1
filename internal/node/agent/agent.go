// Package agent is the step that brings a node's kubelet to a version.
package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/node/controlplane"
	"refit.dev/refit/internal/node/host"
	"refit.dev/refit/internal/node/kubelet"
	"refit.dev/refit/internal/node/task"
)

// Kubelet replaces the kubelet and kubectl, and puts the old ones back where the new kubelet does not come up.
type Kubelet struct{ *task.Task }

// Name is the step's.
func (Kubelet) Name() string { return string(v1alpha1.StepKubelet) }

// Deadline bounds the step.
func (k Kubelet) Deadline() time.Duration { return k.Spec.Deadline(v1alpha1.StepKubelet) }

// Done compares the programs, and sees whether the kubelet that runs is the new one and healthy.
func (k Kubelet) Done(ctx context.Context) (bool, string, error) {
	set, program, err := kubelet.Programs(ctx, k.Task)
	if err != nil {
		return false, "", err
	}
	if missing, err := set.Missing(); err != nil || len(missing) > 0 {
		return false, "differs from the bundle: " + strings.Join(missing, ", "), err
	}
	if why := kubelet.Runs(ctx, k.Task, program); why != "" {
		return false, why, nil
	}
	return true, fmt.Sprintf("kubelet %s runs and is healthy", k.Spec.Version), nil
}

// Run replaces the programs and restarts the kubelet. On a control plane whose kubelet was not replaced together with its static
// pods, these restart with it on a change of the minor version: they are ended first, gracefully and in order.
func (k Kubelet) Run(ctx context.Context) (string, error) {
	set, program, err := kubelet.Programs(ctx, k.Task)
	if err != nil {
		return "", err
	}
	if k.Spec.ControlPlane() {
		return controlplane.NewWindow(k.Task, "kubelet/").WithPrograms(set).Run(ctx)
	}
	if err := kubelet.DropRetiredFlags(k.Task); err != nil {
		return "", err
	}
	message, err := set.Replace(ctx)
	if err != nil {
		return "", err
	}
	if err := k.Systemd.Restart(ctx, host.KubeletUnit); err != nil {
		return "", err
	}
	return message + " and restarted the kubelet", kubelet.Await(ctx, k.Task, program)
}

// Undo puts the old programs back and starts the old kubelet.
func (k Kubelet) Undo(ctx context.Context) (bool, string, error) {
	set, program, err := kubelet.Programs(ctx, k.Task)
	if err != nil {
		return false, "", err
	}
	if k.Spec.ControlPlane() {
		return controlplane.NewWindow(k.Task, "kubelet/").WithPrograms(set).Undo(ctx)
	}
	changed, err := set.PutBack()
	if err != nil || !changed {
		return changed, "", err
	}
	err = errors.Join(k.Systemd.Restart(ctx, host.KubeletUnit), kubelet.Await(ctx, k.Task, program))
	return true, "The old kubelet was put back and is healthy; why the new one failed is in `journalctl -u kubelet` on the node", err
}
