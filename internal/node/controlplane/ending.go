package controlplane

import (
	"context"
	"errors"
	"slices"

	"refit.dev/refit/internal/node/cri"
	"refit.dev/refit/internal/node/etcd"
	"refit.dev/refit/internal/node/host"
	"refit.dev/refit/internal/node/kubelet"
	"refit.dev/refit/internal/node/staticpod"
)

// stopped: what has to end has ended, or nothing is left to be swapped.
func (w Window) stopped(ctx context.Context) (bool, string, error) {
	if swapped, why, err := w.swapped(ctx); err != nil || swapped {
		return swapped, why, err
	}
	ending, err := w.ending(ctx)
	if err != nil || len(ending) == 0 {
		return len(ending) == 0, "no static pod has to end", err
	}
	state, err := w.Systemd.State(ctx, host.KubeletUnit)
	if err != nil || state.Running() {
		return false, "the kubelet runs", err
	}
	runs := ""
	err = w.WithCRI(func(c *cri.Client) error {
		for _, component := range ending {
			container, err := c.Running(ctx, staticpod.PodName(w.Task, component), component)
			if err != nil {
				return err
			}
			if container != nil {
				runs = component + " runs"
			}
		}
		return nil
	})
	return err == nil && runs == "", runs, err
}

// ending are the static pods that have to end in the window: those whose manifest changes, and all of them where the kubelet's
// minor version does, because a static pod's identity is a hash over a type that grows with each. The API server ends whenever its
// etcd does.
func (w Window) ending(ctx context.Context) ([]string, error) {
	if len(w.programs.Items) > 0 {
		changes, err := kubelet.ChangesMinor(ctx, w.Task)
		if err != nil {
			return nil, err
		}
		if changes {
			return staticpod.Components, nil
		}
	}
	if !w.manifests {
		return nil, nil
	}
	changes, err := w.changes()
	if slices.Contains(changes, staticpod.Etcd) && !slices.Contains(changes, staticpod.APIServer) {
		changes = append(changes, staticpod.APIServer)
	}
	return changes, err
}

func (w Window) stop(ctx context.Context) (string, error) {
	ending, err := w.ending(ctx)
	if err != nil {
		return "", err
	}
	if slices.Contains(ending, staticpod.Etcd) {
		if err := w.handOver(ctx); err != nil {
			w.Log.Say("etcd did not hand the lead over, it does so when it ends: %v", err)
		}
	}
	stopKubelet := func() error { return w.Systemd.Stop(ctx, host.KubeletUnit) }
	message := "the API server goes on"
	if slices.Contains(ending, staticpod.APIServer) {
		message, err = StopAPIServer(ctx, w.Task, stopKubelet)
	} else {
		err = stopKubelet()
	}
	if err != nil {
		return "", err
	}
	return message, w.stopRest(ctx, ending)
}

// handOver has the local etcd give the lead away, which it does by itself when it is told to end, but later.
func (w Window) handOver(ctx context.Context) error {
	local, err := etcd.Local(w.Task)
	if err != nil || !local {
		return err
	}
	return etcd.HandOver(ctx, w.Task)
}

// stopRest ends what the API server has left: its sandbox, the controllers at the same time, and then etcd.
func (w Window) stopRest(ctx context.Context, ending []string) error {
	return w.WithCRI(func(c *cri.Client) error {
		ended := make(chan error, len(ending))
		first := 0
		for _, component := range ending {
			if component != staticpod.Etcd {
				first++
				go func() { ended <- c.StopPod(ctx, staticpod.PodName(w.Task, component), component, controllerGrace) }()
			}
		}
		var errs []error
		for range first {
			errs = append(errs, <-ended)
		}
		if slices.Contains(ending, staticpod.Etcd) {
			errs = append(errs, c.StopPod(ctx, staticpod.PodName(w.Task, staticpod.Etcd), staticpod.Etcd, etcdGrace))
		}
		return errors.Join(errs...)
	})
}
