package programs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"refit.dev/refit/internal/node/replace"
	"refit.dev/refit/internal/node/task"
)

// Item is one program of a Set.
type Item struct {
	// File of the bundle, e.g. "bin/kubelet".
	File string `json:"file"`
	// Target is where the host has it.
	Target string `json:"target"`
	// VersionArgs make the program print its version; none means that it has no such way.
	VersionArgs []string `json:"-"`
}

// Set is programs that are replaced, and put back, together.
type Set struct {
	*task.Task
	// Group names the set in the upgrade's state.
	Group string
	Items []Item
}

// old is what an item was before the upgrade.
type old struct {
	Item
	// Version that it was kept under.
	Version string `json:"version"`
	// SHA256 of it, empty where there was no such file.
	SHA256 string `json:"sha256,omitempty"`
}

// Missing are the targets that are not the bundle's files.
func (s Set) Missing() ([]string, error) {
	var missing []string
	for _, item := range s.Items {
		ok, err := s.Installed(item.File, item.Target)
		if err != nil {
			return nil, err
		}
		if !ok {
			missing = append(missing, item.Target)
		}
	}
	return missing, nil
}

// Stage writes the new programs beside the old ones, so that Replace is quick. Nothing that runs changes.
func (s Set) Stage(ctx context.Context) error {
	before, err := s.remember(ctx)
	if err != nil {
		return err
	}
	for _, b := range before {
		if ok, err := s.Installed(b.File, b.Target); err != nil {
			return err
		} else if ok {
			continue
		}
		if err := s.Task.Stage(b.File, b.Target); err != nil {
			return err
		}
	}
	return nil
}

// Replace writes down what there was, once in an upgrade, and then replaces each program that is not the bundle's.
func (s Set) Replace(ctx context.Context) (string, error) {
	before, err := s.remember(ctx)
	if err != nil {
		return "", err
	}
	var replaced []string
	for _, b := range before {
		ok, err := s.Installed(b.File, b.Target)
		if err != nil {
			return "", err
		}
		if ok {
			continue
		}
		if err := s.Install(b.File, b.Target, b.Version); err != nil {
			return "", err
		}
		replaced = append(replaced, fmt.Sprintf("%s (was %s)", b.Target, b.Version))
	}
	return "replaced " + strings.Join(replaced, ", "), nil
}

// Changed says whether a program is not what it was before the upgrade.
func (s Set) Changed() (bool, error) {
	if len(s.Items) == 0 {
		return false, nil
	}
	before, err := s.recall()
	if err != nil {
		return false, err
	}
	for _, b := range before {
		now, err := replace.Sum(s.Path(b.Target))
		if err != nil {
			return false, fmt.Errorf("read %s: %w", b.Target, err)
		}
		if b.SHA256 != "" && now != b.SHA256 {
			return true, nil
		}
	}
	return false, nil
}

// PutBack restores what there was. It says whether anything had to be.
func (s Set) PutBack() (bool, error) {
	if len(s.Items) == 0 {
		return false, nil
	}
	before, err := s.recall()
	if err != nil {
		return false, err
	}
	changed := false
	for _, b := range before {
		now, err := replace.Sum(s.Path(b.Target))
		if err != nil {
			return changed, fmt.Errorf("read %s: %w", b.Target, err)
		}
		if b.SHA256 == "" || now == b.SHA256 {
			continue
		}
		if err := s.Replacer().Restore(s.Path(b.Target), b.Version); err != nil {
			return changed, err
		}
		s.Log.Say("put back %s of version %s", b.Target, b.Version)
		changed = true
	}
	return changed, nil
}

func (s Set) stateFile() string { return s.State("replaced-" + s.Group + ".json") }

// remember writes down what there is before anything is replaced. What an earlier attempt wrote down stays.
func (s Set) remember(ctx context.Context) ([]old, error) {
	before, err := s.recall()
	if err != nil || before != nil {
		return before, err
	}
	for _, item := range s.Items {
		sum, err := replace.Sum(s.Path(item.Target))
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", item.Target, err)
		}
		before = append(before, old{Item: item, Version: s.version(ctx, item, sum), SHA256: sum})
	}
	content, err := json.MarshalIndent(before, "", "  ")
	if err != nil {
		return nil, err
	}
	if err := s.MakeFolder(path.Dir(s.stateFile())); err != nil {
		return nil, err
	}
	return before, s.Replacer().Content(content, s.Path(s.stateFile()), "", 0o600)
}

// version is what the old program is kept under: what it calls itself, or else the beginning of its checksum.
func (s Set) version(ctx context.Context, item Item, sum string) string {
	if len(item.VersionArgs) > 0 && sum != "" {
		if v, err := s.ProgramVersion(ctx, item.Target, item.VersionArgs...); err == nil && v != "" {
			return v
		}
	}
	if len(sum) < 12 {
		return "none"
	}
	return sum[:12]
}

func (s Set) recall() ([]old, error) {
	content, err := os.ReadFile(s.Path(s.stateFile()))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read what was replaced: %w", err)
	}
	var before []old
	if err := json.Unmarshal(content, &before); err != nil {
		return nil, fmt.Errorf("%s is not JSON of the expected form: %w", s.stateFile(), err)
	}
	return before, nil
}

// KeptBy are the versions that each program on the host was kept under by this upgrade, by the program's path.
func KeptBy(t *task.Task) (map[string][]string, error) {
	files, err := filepath.Glob(t.Path(t.State("replaced-*.json")))
	if err != nil {
		return nil, fmt.Errorf("look for what was replaced: %w", err)
	}
	kept := map[string][]string{}
	for _, file := range files {
		group := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(file), "replaced-"), ".json")
		before, err := Set{Task: t, Group: group}.recall()
		if err != nil {
			return nil, err
		}
		for _, b := range before {
			kept[b.Target] = append(kept[b.Target], b.Version)
		}
	}
	return kept, nil
}
