package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"refit.dev/refit/internal/cli/windows"
)

// manifests reads the files that --filename names.
func (a *app) manifests(f scheduleFlags) (*windows.Manifests, error) {
	read, err := windows.NewManifests()
	if err != nil {
		return nil, err
	}
	for _, file := range f.files {
		data, err := a.file(file)
		if err != nil {
			return nil, err
		}
		if err := read.Read(fileName(file), data, f.namespace); err != nil {
			return nil, usageError(err)
		}
	}
	if len(read.PassedOver) > 0 {
		a.note("Passed over: %s.", strings.Join(read.PassedOver, ", "))
	}
	if len(read.Configs) == 0 {
		return nil, usageError(fmt.Errorf("there is no UpgradeConfig in %s: name a file that holds one", strings.Join(f.files, ", ")))
	}
	return read, nil
}

func (a *app) file(name string) ([]byte, error) {
	if name == "-" {
		data, err := io.ReadAll(a.In)
		if err != nil {
			return nil, fmt.Errorf("read the standard input: %w", err)
		}
		return data, nil
	}
	data, err := os.ReadFile(name)
	if errors.Is(err, os.ErrNotExist) {
		return nil, usageError(fmt.Errorf("there is no file %s", name))
	}
	if err != nil {
		return nil, fmt.Errorf("read the manifests: %w", err)
	}
	return data, nil
}

func fileName(name string) string {
	if name == "-" {
		return "standard input"
	}
	return name
}
