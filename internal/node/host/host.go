// Package host is what a step needs of the machine that it runs on: files, programs with a deadline, services, and a log.
package host

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"k8s.io/utils/clock"

	"refit.dev/refit/internal/node/replace"
)

// Host is a machine. Steps reach it only through here, so that a test may give them a folder instead.
type Host struct {
	// Root is the host's root folder: "/" in a unit of the host, /proc/1/root in a container.
	Root string
	// Systemd is its service manager.
	Systemd Systemd
	// Clock tells the time.
	Clock clock.WithTicker
	// Log is the step's.
	Log *Log
	// Disk makes the changes to files.
	Disk replace.Disk
}

// Path is where a file of the host is found from here.
func (h *Host) Path(path string) string { return filepath.Join(h.Root, path) }

// Replacer replaces files of the host.
func (h *Host) Replacer() replace.Replacer { return replace.Replacer{Disk: h.Disk} }

// Exists says whether the host has a file or folder of the name.
func (h *Host) Exists(path string) (bool, error) {
	_, err := os.Stat(h.Path(path))
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// MakeFolder makes a folder of the host, readable by root only, and those above it.
func (h *Host) MakeFolder(path string) error {
	if err := os.MkdirAll(h.Path(path), 0o700); err != nil {
		return fmt.Errorf("create %s: %w", path, err)
	}
	return h.Disk.SyncFolder(filepath.Dir(h.Path(path)))
}

func readLink(path string) (string, error) {
	target, err := os.Readlink(path)
	if err != nil {
		return "", fmt.Errorf("see which program runs: %w", err)
	}
	return target, nil
}
