package controlplane

import (
	"context"
	"fmt"
	"path"
	"strings"
	"time"

	"refit.dev/refit/internal/node/spec"
	"refit.dev/refit/internal/node/staticpod"
	"refit.dev/refit/internal/node/task"
)

// begun says whether this upgrade has already changed a static pod.
func (k Kubeadm) begun() (bool, error) { return Begun(k.Task) }

// Begun says whether an upgrade has already changed a static pod of this node: its manifest is not the old one.
func Begun(t *task.Task) (bool, error) {
	for _, component := range staticpod.Components {
		old, err := t.Exists(staticpod.File(oldFolder(t), component))
		if err != nil {
			return false, err
		}
		if !old {
			continue
		}
		is, err := same(t, component, oldFolder(t))
		if err != nil {
			return false, err
		}
		if !is {
			return true, nil
		}
	}
	return false, nil
}

// checked: kubeadm's checks are made before anything changes, at each attempt that finds nothing changed.
func (k Kubeadm) checked(ctx context.Context) (bool, string, error) {
	if begun, err := k.begun(); err != nil || begun {
		return begun, "checked before the static pods began to change", err
	}
	if k.run.checked {
		return true, "kubeadm's checks passed", nil
	}
	if why, err := AtVersion(ctx, k.Task); err != nil || why == "" {
		return err == nil, "the static pods are at " + k.Spec.Version, err
	}
	return false, "not checked yet", nil
}

// run is what this run of the step has done already. A later run does it again, unless the static pods have begun to change.
type run struct{ checked, rendered bool }

// mark notes, for this and later runs, what happens once in an upgrade.
func (k Kubeadm) mark(marker string) error {
	if err := k.MakeFolder(spec.UpgradeDir(k.Spec.UpgradeUID)); err != nil {
		return err
	}
	return k.Replacer().Content([]byte(k.Spec.Version+"\n"), k.Path(k.State(marker)), "", 0o600)
}

func (k Kubeadm) check(ctx context.Context) (string, error) {
	rest := []string{"phase", "preflight"}
	if k.Spec.First {
		rest = append(rest, k.Spec.Version, "--yes")
	}
	ignored, err := k.ignored()
	if err != nil {
		return "", err
	}
	args, err := k.upgradeArgs(append(rest, ignored...)...)
	if err != nil {
		return "", err
	}
	err = k.Retry(ctx, "kubeadm's preflight", kubeadmAttempts, kubeadmPause, again, func(ctx context.Context) error {
		return k.kubeadm(ctx, 3*time.Minute, args...)
	})
	if err != nil {
		if !again(err) {
			return "", spec.Refusef("kubeadm refuses the upgrade, nothing was changed: %w", err)
		}
		return "", fmt.Errorf("kubeadm's checks before the upgrade, nothing was changed: %w", err)
	}
	k.run.checked = true
	return "kubeadm's checks passed", nil
}

// rendered: the new manifests are there, and either in use already or just written.
func (k Kubeadm) rendered(ctx context.Context) (bool, string, error) {
	if there, err := k.Exists(newFolder(k.Task)); err != nil || !there {
		return false, "not rendered yet", err
	}
	if begun, err := k.begun(); err != nil || begun {
		return begun, "rendered before the static pods began to change", err
	}
	return k.run.rendered, "to be rendered anew", nil
}

// render writes the new manifests, and keeps the old ones.
func (k Kubeadm) render(ctx context.Context) (string, error) {
	if err := Render(ctx, k.Task, k.Staged("bin/kubeadm"), k.Spec.Version, newFolder(k.Task)); err != nil {
		return "", err
	}
	folder, err := staticpod.Folder(k.Task)
	if err != nil {
		return "", err
	}
	if err := k.MakeFolder(oldFolder(k.Task)); err != nil {
		return "", err
	}
	var changes []string
	for _, component := range staticpod.Components {
		_, content, err := staticpod.Read(k.Task, folder, component)
		if err != nil {
			return "", err
		}
		if content == nil {
			continue
		}
		if err := k.Replacer().Content(content, k.Path(staticpod.File(oldFolder(k.Task), component)), "", 0o600); err != nil {
			return "", err
		}
		if is, err := same(k.Task, component, newFolder(k.Task)); err != nil {
			return "", err
		} else if !is {
			changes = append(changes, component)
		}
	}
	k.run.rendered = true
	return "manifests that change: " + strings.Join(changes, ", "), nil
}

const renewMarker = "certificates-renewed"

// renewed: kubeadm's way renews the certificates of each component that it restarts; so does this, once in an upgrade.
func (k Kubeadm) renewed(ctx context.Context) (bool, string, error) {
	if there, err := k.Exists(k.State(renewMarker)); err != nil || there {
		return there, "renewed in this upgrade", err
	}
	if begun, err := k.begun(); err != nil || begun {
		return false, "not renewed yet", err
	}
	for _, component := range staticpod.Components {
		is, err := same(k.Task, component, newFolder(k.Task))
		if err != nil {
			return false, "", err
		}
		there, err := k.Exists(staticpod.File(newFolder(k.Task), component))
		if err != nil {
			return false, "", err
		}
		if there && !is {
			return false, "not renewed yet", nil
		}
	}
	return true, "no static pod changes, so kubeadm would renew none", nil
}

func (k Kubeadm) renew(ctx context.Context) (string, error) {
	err := k.kubeadm(ctx, 2*time.Minute, "certs", "renew", "all", "--config", path.Join(newFolder(k.Task), "kubeadm.yaml"))
	if err != nil {
		return "", err
	}
	return "renewed the certificates that kubeadm manages", k.mark(renewMarker)
}
