// Package programs brings the bundle's programs to the host, and into the places of the old ones.
package programs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"time"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/bundle"
	"refit.dev/refit/internal/node/replace"
	"refit.dev/refit/internal/node/spec"
	"refit.dev/refit/internal/node/task"
)

// Copy brings the programs from the image to the version's folder on the host.
type Copy struct {
	*task.Task
	// Source is the bundle's folder in the container.
	Source string
}

// Name is the step's.
func (Copy) Name() string { return string(v1alpha1.StepCopyBinaries) }

// Deadline bounds the copying.
func (c Copy) Deadline() time.Duration { return c.Spec.Deadline(v1alpha1.StepCopyBinaries) }

// Done compares every file on the host with its checksum.
func (c Copy) Done(context.Context) (bool, string, error) {
	if c.Bundle.Version != c.Spec.Version {
		return false, "", spec.Refusef("the upgrader image holds the programs of %s, but %s is asked for: see spec.image of KubernetesVersion %s",
			c.Bundle.Version, c.Spec.Version, c.Spec.Version)
	}
	err := c.Bundle.Verify(c.Path(spec.VersionDir(c.Spec.Version)))
	var differs *bundle.ChecksumError
	if errors.As(err, &differs) {
		return false, fmt.Sprintf("%s is missing or differs in %s", differs.Path, spec.VersionDir(c.Spec.Version)), nil
	}
	if err != nil {
		return false, "", err
	}
	return true, fmt.Sprintf("%d programs of %s are in %s", len(c.Bundle.Files), c.Spec.Version, spec.VersionDir(c.Spec.Version)), nil
}

// Run copies what is missing, after it has checked the bundle itself: a damaged one changes nothing.
func (c Copy) Run(context.Context) (string, error) {
	if err := c.Bundle.Verify(c.Source); err != nil {
		var differs *bundle.ChecksumError
		if errors.As(err, &differs) {
			return "", spec.Refusef("upgrader image of %s: %w. Nothing was changed on the node", c.Spec.Version, err)
		}
		return "", err
	}
	dir := spec.VersionDir(c.Spec.Version)
	var copied, size int64
	for _, f := range c.Bundle.Files {
		did, err := c.copyFile(f, path.Join(dir, f.Path))
		if err != nil {
			return "", err
		}
		if did {
			copied, size = copied+1, size+f.Size
		}
	}
	manifest, err := json.MarshalIndent(c.Bundle, "", "  ")
	if err != nil {
		return "", err
	}
	if err := c.Replacer().Content(manifest, c.Path(path.Join(dir, bundle.ManifestName)), "", 0o644); err != nil {
		return "", err
	}
	return fmt.Sprintf("copied %d programs (%d MB) to %s, checksums right", copied, size>>20, dir), nil
}

func (c Copy) copyFile(f bundle.File, target string) (bool, error) {
	have, err := replace.Sum(c.Path(target))
	if err != nil || have == f.SHA256 {
		return false, err
	}
	if err := os.MkdirAll(filepath.Dir(c.Path(target)), 0o755); err != nil {
		return false, fmt.Errorf("create %s: %w", path.Dir(target), err)
	}
	if err := c.Replacer().File(filepath.Join(c.Source, filepath.FromSlash(f.Path)), c.Path(target), "", 0o755); err != nil {
		return false, err
	}
	c.Log.Say("copied %s (%d bytes)", target, f.Size)
	return true, nil
}
