package controlplane

import (
	"context"
	"errors"
	"fmt"

	"refit.dev/refit/internal/node/host"
	"refit.dev/refit/internal/node/kubelet"
	"refit.dev/refit/internal/node/spec"
	"refit.dev/refit/internal/node/staticpod"
)

// Undo puts the old files back and starts the kubelet. A new etcd that serves stays: it can do all that the old one could, and its
// data might refuse to go back.
func (w Window) Undo(ctx context.Context) (bool, string, error) {
	back, err := w.toPutBack(ctx)
	if err != nil {
		return false, "", errors.Join(err, w.Systemd.Start(ctx, host.KubeletUnit))
	}
	program, err := w.KubeletProgram(ctx)
	if err != nil {
		return false, "", err
	}
	changed, err := w.putBack(ctx, back)
	// Whatever became of that, the kubelet runs again.
	if err := errors.Join(err, w.Systemd.Start(ctx, host.KubeletUnit)); err != nil {
		return false, "", err
	}
	if err := kubelet.Await(ctx, w.Task, program); err != nil {
		return false, "", err
	}
	err = w.Wait(ctx, "the old static pods", podEvery, startDeadline, func(ctx context.Context) string { return Up(ctx, w.Task) })
	if err != nil {
		return false, "", fmt.Errorf("%w; the old manifests are in %s, the etcd snapshot in %s", err, oldFolder(w.Task), spec.EtcdDir)
	}
	return changed, "The old static pods and the old kubelet were put back, and the API server of this node is ready", nil
}

// toPutBack are the static pods whose old manifest is to be put back.
func (w Window) toPutBack(ctx context.Context) ([]string, error) {
	if !w.manifests {
		return nil, nil
	}
	var back []string
	for _, component := range staticpod.Components {
		_, content, err := staticpod.Read(w.Task, oldFolder(w.Task), component)
		if err != nil {
			return nil, err
		}
		is, err := same(w.Task, component, oldFolder(w.Task))
		if err != nil {
			return nil, err
		}
		if content == nil || is || (component == staticpod.Etcd && etcdUp(ctx, w.Task) == "") {
			continue
		}
		// The newest last: every prefix of the way back is a legal mix, too.
		back = append([]string{component}, back...)
	}
	return back, nil
}

func (w Window) putBack(ctx context.Context, back []string) (bool, error) {
	missing, err := w.programs.Changed()
	if err != nil || (len(back) == 0 && !missing) {
		return false, err
	}
	if err := errors.Join(w.Systemd.Stop(ctx, host.KubeletUnit), w.stopRest(ctx, staticpod.Components)); err != nil {
		w.Log.Say("%v; putting the old files back all the same", err)
	}
	if _, err := w.programs.PutBack(); err != nil {
		return true, err
	}
	if w.manifests {
		if err := restoreKubeletSettings(w.Task); err != nil {
			return true, err
		}
	}
	for _, component := range back {
		if err := w.put(component, oldFolder(w.Task)); err != nil {
			return true, err
		}
	}
	return true, nil
}
