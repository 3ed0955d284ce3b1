package programs

import (
	"context"
	"fmt"
	"path"
	"strings"
	"time"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/node/task"
)

// defaultCNI is where containerd looks for network plugins unless it is told otherwise.
const defaultCNI = "/opt/cni/bin"

// CNI replaces the network plugins that the bundle holds. Others in the same folder stay.
type CNI struct{ *task.Task }

// Name is the step's.
func (CNI) Name() string { return string(v1alpha1.StepCNIPlugins) }

// Deadline bounds the step.
func (c CNI) Deadline() time.Duration { return c.Spec.Deadline(v1alpha1.StepCNIPlugins) }

// Done compares each plugin.
func (c CNI) Done(context.Context) (bool, string, error) {
	set, dir, err := c.set()
	if err != nil {
		return false, "", err
	}
	missing, err := set.Missing()
	if err != nil {
		return false, "", err
	}
	if len(missing) > 0 {
		return false, "differs from the bundle: " + strings.Join(missing, ", "), nil
	}
	return true, fmt.Sprintf("the network plugins in %s are %s", dir, c.Bundle.Component("cni-plugins")), nil
}

// Run replaces the plugins, each at once: the runtime starts them anew for every pod.
func (c CNI) Run(ctx context.Context) (string, error) {
	set, _, err := c.set()
	if err != nil {
		return "", err
	}
	return set.Replace(ctx)
}

func (c CNI) set() (Set, string, error) {
	settings, err := containerdSettings(c.Task)
	if err != nil {
		return Set{}, "", err
	}
	dir := defaultCNI
	for _, pattern := range []string{binDirs.FindString(settings), binDir.FindString(settings)} {
		if pattern != "" {
			dir = quoted(pattern)
			break
		}
	}
	set := Set{Task: c.Task, Group: "cni"}
	for _, f := range c.Bundle.Files {
		if strings.HasPrefix(f.Path, "cni/") {
			set.Items = append(set.Items, Item{File: f.Path, Target: path.Join(dir, path.Base(f.Path))})
		}
	}
	return set, dir, nil
}

// quoted is the first quoted text in a line of settings.
func quoted(line string) string {
	i := strings.IndexAny(line, `"'`)
	rest := line[i+1:]
	return rest[:strings.IndexByte(rest, line[i])]
}
