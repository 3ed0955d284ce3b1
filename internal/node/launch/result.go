// Package launch has the host run a step, whatever becomes of the container that asked for it: as a transient unit of the host's
// systemd, which also finishes the step after a power cut.
package launch

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"time"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/node/replace"
	"refit.dev/refit/internal/node/spec"
)

// Result is how a step on the host ended.
type Result struct {
	Code    spec.ExitCode `json:"code"`
	Message string        `json:"message"`
	Time    time.Time     `json:"time"`
}

func resultPath(root, uid string, step v1alpha1.StepName) string {
	return filepath.Join(root, path.Join(spec.UpgradeDir(uid), "result-"+string(step)+".json"))
}

// readResult reads a step's result; nil where there is none.
func readResult(root, uid string, step v1alpha1.StepName) (*Result, error) {
	var r Result
	if ok, err := readJSON(resultPath(root, uid, step), &r); err != nil || !ok {
		return nil, err
	}
	return &r, nil
}

func writeJSON(file string, value any) error {
	content, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return fmt.Errorf("create %s: %w", filepath.Dir(file), err)
	}
	return replace.Replacer{Disk: replace.OS{}}.Content(content, file, "", 0o600)
}

// readJSON says whether there is such a file.
func readJSON(file string, into any) (bool, error) {
	content, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("read %s: %w", file, err)
	}
	if err := json.Unmarshal(content, into); err != nil {
		return false, fmt.Errorf("%s is not JSON of the expected form: %w", file, err)
	}
	return true, nil
}
