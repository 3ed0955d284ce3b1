// Package task is what the steps of one node's upgrade share: the host, what is asked for, and what the bundle holds.
package task

import (
	"context"
	"fmt"
	"os"
	"path"

	"refit.dev/refit/internal/bundle"
	"refit.dev/refit/internal/node/cri"
	"refit.dev/refit/internal/node/host"
	"refit.dev/refit/internal/node/kubeapi"
	"refit.dev/refit/internal/node/replace"
	"refit.dev/refit/internal/node/spec"
	"refit.dev/refit/internal/sequence"
)

// Task is one node's upgrade, as its steps see it.
type Task struct {
	*host.Host
	// Spec says what is asked for.
	Spec spec.Spec
	// Bundle says what the version consists of.
	Bundle bundle.Manifest
	// Runner records the steps inside a step.
	Runner func(prefix string) *sequence.Runner
}

// Staged is the host's path of a file of the bundle, e.g. "bin/kubelet", once copy-binaries is done.
func (t *Task) Staged(file string) string { return path.Join(spec.VersionDir(t.Spec.Version), file) }

// Checksum is what the bundle says of a file, empty where it does not hold it.
func (t *Task) Checksum(file string) string {
	for _, f := range t.Bundle.Files {
		if f.Path == file {
			return f.SHA256
		}
	}
	return ""
}

// Installed says whether the bundle's file is what the host has at target.
func (t *Task) Installed(file, target string) (bool, error) {
	want := t.Checksum(file)
	if want == "" {
		return false, spec.Refusef("the bundle of %s holds no %s: build it again with `refit bundle build`", t.Spec.Version, file)
	}
	have, err := replace.Sum(t.Path(target))
	if err != nil {
		return false, fmt.Errorf("read %s: %w", target, err)
	}
	return have == want, nil
}

// Stage writes a copy of the bundle's file beside target, so that Install is a matter of a rename.
func (t *Task) Stage(file, target string) error {
	want := t.Checksum(file)
	if have, err := replace.StagedSum(t.Path(target)); err != nil || have == want {
		return err
	}
	from := t.Staged(file)
	sum, err := replace.Sum(t.Path(from))
	if err != nil {
		return fmt.Errorf("read %s: %w", from, err)
	}
	if sum != want {
		return fmt.Errorf("%s is not the bundle's file (checksum %.12s…, expected %.12s…): delete %s, and copy-binaries brings it again",
			from, sum, want, spec.VersionDir(t.Spec.Version))
	}
	if err := os.MkdirAll(path.Dir(t.Path(target)), 0o755); err != nil {
		return fmt.Errorf("create the folder of %s: %w", target, err)
	}
	return t.Replacer().Stage(t.Path(from), t.Path(target), 0o755)
}

// Install puts the bundle's file in the place of the host's, which stays beside it under its version.
func (t *Task) Install(file, target, oldVersion string) error {
	if err := t.Stage(file, target); err != nil {
		return err
	}
	if err := t.Replacer().Commit(t.Path(target), oldVersion); err != nil {
		return err
	}
	t.Log.Say("installed %s from %s", target, t.Staged(file))
	return nil
}

// State is a path in the folder that holds the upgrade's state.
func (t *Task) State(name string) string { return path.Join(spec.UpgradeDir(t.Spec.UpgradeUID), name) }

// API is a client with the credentials that the node has: the administrator's on a control plane, otherwise the kubelet's.
func (t *Task) API() (*kubeapi.Client, error) {
	if t.Spec.ControlPlane() {
		return kubeapi.Load(t.Root, kubeapi.AdminConf)
	}
	return kubeapi.Load(t.Root, kubeapi.KubeletConf)
}

// CRI is a client of the container runtime that the kubelet uses.
func (t *Task) CRI() (*cri.Client, error) {
	config, err := t.Kubelet()
	if err != nil {
		return nil, err
	}
	return cri.Dial(t.Root, config.RuntimeEndpoint)
}

// WithCRI gives a client to a function, and closes it.
func (t *Task) WithCRI(do func(*cri.Client) error) error {
	c, err := t.CRI()
	if err != nil {
		return err
	}
	defer c.Close()
	return do(c)
}

// KubeletProgram is the program that the kubelet's unit starts.
func (t *Task) KubeletProgram(ctx context.Context) (string, error) {
	return t.ServiceProgram(ctx, host.KubeletUnit)
}
