package controlplane

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path"
	"time"

	"refit.dev/refit/internal/node/kubeapi"
	"refit.dev/refit/internal/node/kubelet"
	"refit.dev/refit/internal/node/staticpod"
	"refit.dev/refit/internal/node/task"
)

// kubeletSettings are the files that kubeadm writes for the kubelet.
var kubeletSettings = []string{"/var/lib/kubelet/config.yaml", "/var/lib/kubelet/kubeadm-flags.env", "/var/lib/kubelet/instance-config.yaml"}

func keptSettings(t *task.Task) string { return t.State("kubelet-old") }

// kubeletIsLocal says whether the kubelet talks to the API server of its own control plane. Only then may it be replaced in the same
// window: a kubelet must never be newer than the API server that it talks to.
func kubeletIsLocal(t *task.Task) (bool, error) {
	folder, err := staticpod.Folder(t)
	if err != nil {
		return false, err
	}
	endpoint, err := staticpod.Endpoint(t, folder)
	if err != nil {
		return false, err
	}
	client, err := kubeapi.Load(t.Root, kubeapi.KubeletConf)
	if err != nil {
		return false, err
	}
	server, err := url.Parse(client.Server)
	if err != nil {
		return false, fmt.Errorf("the server in %s: %w", kubeapi.KubeletConf, err)
	}
	return server.Host == endpoint, nil
}

const settingsMarker = "kubelet-settings-written"

// settled: the kubelet's settings are those that kubeadm wants for the version, or the kubelet is not replaced yet.
func (k Kubeadm) settled(context.Context) (bool, string, error) {
	local, err := kubeletIsLocal(k.Task)
	if err != nil || !local {
		return !local, "the kubelet talks to the load balancer, and is replaced in a step of its own", err
	}
	there, err := k.Exists(k.State(settingsMarker))
	return there, "written in this upgrade", err
}

// settle has kubeadm write the kubelet's settings, which the kubelet reads when it starts next.
func (k Kubeadm) settle(ctx context.Context) (string, error) {
	if err := k.MakeFolder(keptSettings(k.Task)); err != nil {
		return "", err
	}
	for _, name := range kubeletSettings {
		if err := copySettings(k.Task, name, path.Join(keptSettings(k.Task), path.Base(name))); err != nil {
			return "", err
		}
	}
	rest := []string{"phase", "kubelet-config"}
	if k.Spec.First {
		rest = append(rest, k.Spec.Version)
	}
	args, err := k.upgradeArgs(rest...)
	if err != nil {
		return "", err
	}
	err = k.Retry(ctx, "kubeadm's kubelet-config", kubeadmAttempts, kubeadmPause, again, func(ctx context.Context) error {
		return k.kubeadm(ctx, time.Minute, args...)
	})
	if err = errors.Join(err, kubelet.DropRetiredFlags(k.Task)); err != nil {
		return "", err
	}
	return "kubeadm has written the kubelet's settings", k.mark(settingsMarker)
}

func restoreKubeletSettings(t *task.Task) error {
	for _, name := range kubeletSettings {
		if err := copySettings(t, path.Join(keptSettings(t), path.Base(name)), name); err != nil {
			return err
		}
	}
	// The next attempt has kubeadm write them again.
	return t.Disk.Remove(t.Path(t.State(settingsMarker)))
}

func copySettings(t *task.Task, from, to string) error {
	content, err := os.ReadFile(t.Path(from))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", from, err)
	}
	return t.Replacer().Content(content, t.Path(to), "", 0o600)
}
