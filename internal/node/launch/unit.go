package launch

import (
	"context"
	"fmt"
	"path"
	"path/filepath"
	"time"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/bundle"
	"refit.dev/refit/internal/node/host"
	"refit.dev/refit/internal/node/spec"
)

// hardStop is how long after its own deadline and spec.Patience a step is ended by systemd.
const hardStop = time.Minute

func unitName(step v1alpha1.StepName) string { return "refit-" + string(step) + ".service" }

func unitDescription(s *spec.Spec, step v1alpha1.StepName) string {
	return fmt.Sprintf("Refit: step %s of upgrade %s to %s", step, s.UpgradeUID, s.Version)
}

// startUnit has the host's systemd run a step with the program at a path of the host.
func startUnit(ctx context.Context, systemd host.Systemd, program string, s *spec.Spec, step v1alpha1.StepName) error {
	return systemd.StartTransient(ctx, unitName(step), host.Transient{
		Description: unitDescription(s, step),
		Command:     []string{program, "run", string(step), "--upgrade", s.UpgradeUID},
		Limit:       s.Deadline(step) + spec.Patience + hardStop,
		Final: []int32{int32(spec.ExitFailed), int32(spec.ExitRefused), int32(spec.ExitDrainTimedOut), int32(spec.ExitRolledBack),
			int32(spec.ExitInterrupted)},
	})
}

func specPath(root, uid string) string {
	return filepath.Join(root, path.Join(spec.UpgradeDir(uid), "spec.json"))
}

func bundlePath(root, uid string) string {
	return filepath.Join(root, path.Join(spec.UpgradeDir(uid), "bundle.json"))
}

// Load reads what a container left on the host for the steps there.
func Load(root, uid string) (spec.Spec, bundle.Manifest, error) {
	var s spec.Spec
	var m bundle.Manifest
	for file, into := range map[string]any{specPath(root, uid): &s, bundlePath(root, uid): &m} {
		if ok, err := readJSON(file, into); err != nil {
			return s, m, err
		} else if !ok {
			return s, m, fmt.Errorf("%s is missing: the upgrade %s was not begun on this node, or was cleaned up", file, uid)
		}
	}
	return s, m, s.Validate()
}
