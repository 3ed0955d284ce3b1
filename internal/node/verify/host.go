// Package verify sees, on the host, whether the node is what it is to be.
package verify

import (
	"context"
	"fmt"
	"strings"
	"time"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/node/agent"
	"refit.dev/refit/internal/node/controlplane"
	"refit.dev/refit/internal/node/etcd"
	"refit.dev/refit/internal/node/task"
)

const (
	deadline  = 4 * time.Minute
	lookEvery = time.Second
)

// Host waits until everything on the host is as the version wants it. It changes nothing.
type Host struct{ *task.Task }

// Name is the step's.
func (Host) Name() string { return string(v1alpha1.StepVerify) }

// Deadline bounds the wait.
func (h Host) Deadline() time.Duration { return h.Spec.Deadline(v1alpha1.StepVerify) }

// Done looks once.
func (h Host) Done(ctx context.Context) (bool, string, error) {
	if missing := h.missing(ctx); missing != "" {
		return false, missing, nil
	}
	return true, h.summary(), nil
}

// Run looks until it is so.
func (h Host) Run(ctx context.Context) (string, error) {
	return h.summary(), h.Wait(ctx, "the node at "+h.Spec.Version, lookEvery, deadline, h.missing)
}

func (h Host) summary() string {
	if h.Spec.ControlPlane() {
		return "kubelet and static pods are at " + h.Spec.Version + ", the API server is ready, etcd is healthy and votes"
	}
	return "the kubelet is at " + h.Spec.Version
}

func (h Host) missing(ctx context.Context) string {
	var missing []string
	done, why, err := agent.Kubelet{Task: h.Task}.Done(ctx)
	switch {
	case err != nil:
		missing = append(missing, err.Error())
	case !done:
		missing = append(missing, why)
	}
	if h.Spec.ControlPlane() {
		missing = append(missing, h.controlPlane(ctx)...)
	}
	return strings.Join(missing, "; ")
}

func (h Host) controlPlane(ctx context.Context) []string {
	var missing []string
	why, err := controlplane.AtVersion(ctx, h.Task)
	if err != nil {
		why = err.Error()
	}
	if why != "" {
		missing = append(missing, why)
	}
	if why := controlplane.Up(ctx, h.Task); why != "" {
		missing = append(missing, why)
	}
	local, err := etcd.Local(h.Task)
	if err != nil {
		return append(missing, err.Error())
	}
	if local && len(missing) == 0 {
		if why := h.votes(ctx); why != "" {
			missing = append(missing, why)
		}
	}
	return missing
}

func (h Host) votes(ctx context.Context) string {
	endpoint, err := etcd.LocalEndpoint(h.Task)
	if err != nil {
		return err.Error()
	}
	status, err := etcd.StatusOf(ctx, h.Task, endpoint)
	switch {
	case err != nil:
		return err.Error()
	case status.Learner:
		return "the etcd member of this node is a learner and does not vote: promote it (`etcdctl member promote`)"
	case status.Leader == 0:
		return "etcd has no leader"
	case len(status.Errors) > 0:
		return fmt.Sprintf("the etcd member of this node reports: %s", strings.Join(status.Errors, ", "))
	}
	return ""
}
