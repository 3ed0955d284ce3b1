// Package cleanup removes what earlier upgrades left, once a node is whole.
package cleanup

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"time"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/node/programs"
	"refit.dev/refit/internal/node/replace"
	"refit.dev/refit/internal/node/spec"
	"refit.dev/refit/internal/node/task"
)

const (
	// keepUpgrades is how many upgrades' journals, logs and states stay.
	keepUpgrades = 10
	// keepBackups is how many of each kind of kubeadm's backups stay.
	keepBackups = 1
)

// kubeadmLeftovers are what kubeadm leaves in /etc/kubernetes/tmp, by the beginnings of the names.
var kubeadmLeftovers = []string{"kubeadm-backup-etcd-", "kubeadm-backup-manifests-", "kubeadm-upgraded-manifests", "kubeadm-kubelet-config"}

const kubeadmTemp = "/etc/kubernetes/tmp"

// Cleanup removes old things. What it would remove is worked out anew each time, so it is done when there is nothing.
type Cleanup struct{ *task.Task }

// Name is the step's.
func (Cleanup) Name() string { return string(v1alpha1.StepCleanup) }

// Deadline bounds the removal.
func (c Cleanup) Deadline() time.Duration { return c.Spec.Deadline(v1alpha1.StepCleanup) }

// Done says whether there is nothing to remove.
func (c Cleanup) Done(context.Context) (bool, string, error) {
	old, err := c.old()
	return err == nil && len(old) == 0, "nothing to remove", err
}

// Run removes.
func (c Cleanup) Run(ctx context.Context) (string, error) {
	old, err := c.old()
	if err != nil {
		return "", err
	}
	for _, name := range old {
		if err := context.Cause(ctx); err != nil {
			return "", err
		}
		c.Log.Say("removing %s", strings.TrimPrefix(name, strings.TrimSuffix(c.Root, "/")))
		if err := os.RemoveAll(name); err != nil {
			return "", fmt.Errorf("remove %s: %w", name, err)
		}
	}
	return fmt.Sprintf("removed %d old folders and files", len(old)), nil
}

// old is what is to go, as paths from here.
func (c Cleanup) old() ([]string, error) {
	var all []string
	for _, find := range []func() ([]string, error){c.versions, c.nodePrograms, c.kubeadmBackups, c.upgrades, c.keptPrograms, c.resume} {
		found, err := find()
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

// versions are the folders of programs but those of the version and of the one before.
func (c Cleanup) versions() ([]string, error) {
	return c.entries(path.Join(spec.ProgramsDir, "versions"), func(name string) bool {
		return name != c.Spec.Version && name != c.Spec.FromVersion
	})
}

// nodePrograms are the copies of refit-node but the one that runs.
func (c Cleanup) nodePrograms() ([]string, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find the own program: %w", err)
	}
	running := filepath.Base(filepath.Dir(self))
	return c.entries(path.Join(spec.ProgramsDir, "node"), func(name string) bool { return name != running })
}

func (c Cleanup) kubeadmBackups() ([]string, error) {
	var all []string
	for _, prefix := range kubeadmLeftovers {
		found, err := c.entries(kubeadmTemp, func(name string) bool { return strings.HasPrefix(name, prefix) })
		if err != nil {
			return nil, err
		}
		all = append(all, oldest(found, keepBackups)...)
	}
	return all, nil
}

// upgrades are the states, logs and journals of long-ended upgrades.
func (c Cleanup) upgrades() ([]string, error) {
	var all []string
	for _, folder := range []string{"upgrades", "logs", "journal"} {
		found, err := c.entries(path.Join(spec.StateDir, folder), func(name string) bool {
			return strings.TrimSuffix(name, ".jsonl") != c.Spec.UpgradeUID
		})
		if err != nil {
			return nil, err
		}
		all = append(all, oldest(found, keepUpgrades-1)...)
	}
	return all, nil
}

// keptPrograms are the old programs beside the new ones, but those that this upgrade replaced.
func (c Cleanup) keptPrograms() ([]string, error) {
	kept, err := programs.KeptBy(c.Task)
	if err != nil {
		return nil, err
	}
	var all []string
	for target, versions := range kept {
		found, err := filepath.Glob(c.Path(replace.Kept(target, "*")))
		if err != nil {
			return nil, fmt.Errorf("look for old programs: %w", err)
		}
		for _, name := range found {
			if !slices.Contains(versions, strings.TrimPrefix(name, c.Path(replace.Kept(target, "")))) {
				all = append(all, name)
			}
		}
	}
	return all, nil
}

// resume is the unit that goes on after a power cut. Between upgrades nothing of Refit is started at a boot.
func (c Cleanup) resume() ([]string, error) {
	var all []string
	for _, name := range []string{spec.ResumeWanted, spec.ResumeUnit} {
		if _, err := os.Lstat(c.Path(name)); err == nil {
			all = append(all, c.Path(name))
		} else if !errors.Is(err, os.ErrNotExist) {
			return nil, fmt.Errorf("look for %s: %w", name, err)
		}
	}
	return all, nil
}

func (c Cleanup) entries(folder string, want func(name string) bool) ([]string, error) {
	entries, err := os.ReadDir(c.Path(folder))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", folder, err)
	}
	var found []string
	for _, e := range entries {
		if want(e.Name()) {
			found = append(found, c.Path(path.Join(folder, e.Name())))
		}
	}
	return found, nil
}

// oldest are all but the newest few.
func oldest(names []string, keep int) []string {
	changed := func(name string) time.Time {
		info, err := os.Stat(name)
		if err != nil {
			return time.Time{}
		}
		return info.ModTime()
	}
	sort.SliceStable(names, func(i, j int) bool { return changed(names[i]).After(changed(names[j])) })
	if len(names) <= keep {
		return nil
	}
	return names[keep:]
}
