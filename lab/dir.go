package lab

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
)

// defaultDir is .lab in the nearest folder above that holds the product's go.mod, or else in the current folder.
func defaultDir() (string, error) {
	root, found, err := sourceTree()
	if err != nil {
		return "", err
	}
	if !found {
		root, err = os.Getwd()
	}
	return filepath.Join(root, ".lab"), err
}

// sourceTree finds the product's source tree around the current folder.
func sourceTree() (string, bool, error) {
	at, err := os.Getwd()
	if err != nil {
		return "", false, fmt.Errorf("find the current folder: %w", err)
	}
	for {
		text, err := os.ReadFile(filepath.Join(at, "go.mod"))
		if err == nil && bytes.HasPrefix(text, []byte("module refit.dev/refit\n")) {
			return at, true, nil
		}
		above := filepath.Dir(at)
		if above == at {
			return "", false, nil
		}
		at = above
	}
}

// folder is where the lab of this name keeps its files: dir itself for the default name, a folder in it for others.
func folder(dir, name string) string {
	if name == DefaultName {
		return dir
	}
	return filepath.Join(dir, name)
}
