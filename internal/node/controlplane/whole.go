package controlplane

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"refit.dev/refit/internal/node/etcd"
	"refit.dev/refit/internal/node/host"
	"refit.dev/refit/internal/node/spec"
	"refit.dev/refit/internal/node/staticpod"
	"refit.dev/refit/internal/node/task"
)

// kubeadmBackups is where kubeadm keeps the manifests that it has replaced.
const kubeadmBackups = "/etc/kubernetes/tmp"

// Gone are the static pods of this control plane whose manifest is missing.
func Gone(t *task.Task) ([]string, error) {
	folder, err := staticpod.Folder(t)
	if err != nil {
		return nil, err
	}
	var gone []string
	for _, component := range staticpod.Components {
		there, err := t.Exists(staticpod.File(folder, component))
		if err != nil {
			return nil, err
		}
		if component == staticpod.Etcd && !there {
			if there, err = externalEtcd(t); err != nil {
				return nil, err
			}
		}
		if !there {
			gone = append(gone, component)
		}
	}
	return gone, nil
}

func externalEtcd(t *task.Task) (bool, error) {
	local, err := etcd.Local(t)
	return !local, err
}

// manifestsWhole: nothing is missing. Refit itself takes no manifest away, but kubeadm does for a moment.
func (k Kubeadm) manifestsWhole(context.Context) (bool, string, error) {
	gone, err := Gone(k.Task)
	if err != nil || len(gone) > 0 {
		return false, "no manifest of " + strings.Join(gone, ", "), err
	}
	return true, "every static pod has its manifest", Keep(k.Task)
}

// makeWhole puts the latest manifest that kubeadm kept in the place of a missing one: a power cut between kubeadm's two renames
// leaves none.
func (k Kubeadm) makeWhole(ctx context.Context) (string, error) {
	gone, err := Gone(k.Task)
	if err != nil {
		return "", err
	}
	folder, err := staticpod.Folder(k.Task)
	if err != nil {
		return "", err
	}
	for _, component := range gone {
		kept, err := latestBackup(k.Task, component)
		if err != nil {
			return "", err
		}
		if kept == "" {
			return "", spec.Refusef("the manifest of %s is missing from %s, and kubeadm kept no copy in %s: bring it back by hand "+
				"(`kubeadm init phase control-plane` or `etcd` writes it), then retry", component, folder, kubeadmBackups)
		}
		content, err := os.ReadFile(kept)
		if err != nil {
			return "", fmt.Errorf("read the kept manifest of %s: %w", component, err)
		}
		if err := k.Replacer().Content(content, k.Path(staticpod.File(folder, component)), "", 0o600); err != nil {
			return "", err
		}
		k.Log.Say("brought the missing manifest of %s back from %s", component, kept)
	}
	// The kubelet may have been stopped by what was cut off.
	if err := k.Systemd.Start(ctx, host.KubeletUnit); err != nil {
		return "", err
	}
	return "brought back the manifests of " + strings.Join(gone, ", "),
		k.Wait(ctx, "etcd and the API server", podEvery, 4*time.Minute, func(ctx context.Context) string { return Up(ctx, k.Task) })
}

// Keep copies the manifests in use to the upgrade's state, in case one goes missing.
func Keep(t *task.Task) error {
	folder, err := staticpod.Folder(t)
	if err != nil {
		return err
	}
	if err := t.MakeFolder(seenFolder(t)); err != nil {
		return err
	}
	for _, component := range staticpod.Components {
		_, content, err := staticpod.Read(t, folder, component)
		if err != nil {
			return err
		}
		if content == nil {
			continue
		}
		if is, err := same(t, component, seenFolder(t)); err != nil || is {
			if err != nil {
				return err
			}
			continue
		}
		if err := t.Replacer().Content(content, t.Path(staticpod.File(seenFolder(t), component)), "", 0o600); err != nil {
			return err
		}
	}
	return nil
}

// latestBackup is where, seen from here, the newest copy is that kubeadm, or an upgrade of ours, kept of a manifest. kubeadm
// moves the file, so that its copy is as old as the manifest itself: newer than what an earlier upgrade saw.
func latestBackup(t *task.Task, component string) (string, error) {
	newest, found := time.Time{}, ""
	for _, pattern := range []string{kubeadmBackups + "/kubeadm-backup-manifests-*", spec.StateDir + "/upgrades/*/manifests-seen"} {
		kept, err := filepath.Glob(t.Path(pattern + "/" + component + ".yaml"))
		if err != nil {
			return "", fmt.Errorf("look for kept manifests: %w", err)
		}
		for _, name := range kept {
			if info, err := os.Stat(name); err == nil && info.Size() > 0 && info.ModTime().After(newest) {
				newest, found = info.ModTime(), name
			}
		}
	}
	return found, nil
}
