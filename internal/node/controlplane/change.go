package controlplane

import (
	"fmt"
	"os"

	"refit.dev/refit/internal/node/etcd"
	"refit.dev/refit/internal/node/staticpod"
	"refit.dev/refit/internal/node/task"
)

// changes are the static pods whose manifest in use is not the rendered one, in the order in which they are swapped.
func (w Window) changes() ([]string, error) {
	var changes []string
	for _, component := range staticpod.Components {
		wanted, err := w.wants(component)
		if err != nil {
			return nil, err
		}
		if !wanted {
			continue
		}
		is, err := same(w.Task, component, newFolder(w.Task))
		if err != nil {
			return nil, err
		}
		if !is {
			changes = append(changes, component)
		}
	}
	return changes, nil
}

// wants says whether the rendered manifest of a static pod is to be put in. An etcd that is older than the one that runs is not.
func (w Window) wants(component string) (bool, error) {
	next, content, err := staticpod.Read(w.Task, newFolder(w.Task), component)
	if err != nil || content == nil {
		return false, err
	}
	if component != staticpod.Etcd {
		return true, nil
	}
	if local, err := etcd.Local(w.Task); err != nil || !local {
		return false, err
	}
	folder, err := staticpod.Folder(w.Task)
	if err != nil {
		return false, err
	}
	now, _, err := staticpod.Read(w.Task, folder, staticpod.Etcd)
	if err != nil {
		return false, err
	}
	return !task.Older(next.Tag(), now.Tag()), nil
}

// put makes a manifest of a folder the one in use. The kubelet sees the whole old or the whole new one.
func (w Window) put(component, from string) error {
	folder, err := staticpod.Folder(w.Task)
	if err != nil {
		return err
	}
	content, err := os.ReadFile(w.Path(staticpod.File(from, component)))
	if err != nil {
		return fmt.Errorf("read the manifest of %s: %w", component, err)
	}
	w.Log.Say("putting the manifest of %s from %s into %s", component, from, folder)
	return w.Replacer().Content(content, w.Path(staticpod.File(folder, component)), "", 0o600)
}
