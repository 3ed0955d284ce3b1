package controlplane

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"refit.dev/refit/internal/node/cri"
	"refit.dev/refit/internal/node/etcd"
	"refit.dev/refit/internal/node/staticpod"
	"refit.dev/refit/internal/node/task"
)

// runs says what keeps a static pod from running the image of a manifest; nothing means that it does.
func runs(ctx context.Context, t *task.Task, component, image string) string {
	missing := ""
	err := t.WithCRI(func(c *cri.Client) error {
		ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
		container, err := c.Running(ctx, staticpod.PodName(t, component), component)
		switch {
		case err != nil:
			return err
		case container == nil:
			missing = component + " is not running"
		case container.Image != image:
			missing = fmt.Sprintf("%s still runs %s", component, container.Image)
		}
		return nil
	})
	if err != nil {
		return err.Error()
	}
	return missing
}

// ready says what keeps the local API server from being ready.
func ready(ctx context.Context, t *task.Task, endpoint string) string {
	api, err := localAPI(t, endpoint)
	if err != nil {
		return err.Error()
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	if _, err := api.Get(ctx, "/readyz?verbose"); err != nil {
		return err.Error()
	}
	return ""
}

// AtVersion says what keeps the static pods from running the version; nothing means that they do.
func AtVersion(ctx context.Context, t *task.Task) (string, error) {
	folder, err := staticpod.Folder(t)
	if err != nil {
		return "", err
	}
	var missing []string
	for _, component := range staticpod.Components {
		m, content, err := staticpod.Read(t, folder, component)
		if err != nil {
			return "", err
		}
		switch {
		case content == nil && component == staticpod.Etcd:
			local, err := etcd.Local(t)
			if err != nil {
				return "", err
			}
			if local {
				missing = append(missing, "the manifest of etcd is missing")
			}
			continue
		case content == nil:
			missing = append(missing, "the manifest of "+component+" is missing")
			continue
		case component != staticpod.Etcd && m.Tag() != t.Spec.Version:
			missing = append(missing, fmt.Sprintf("the manifest of %s says %s", component, m.Tag()))
			continue
		}
		if why := runs(ctx, t, component, m.Image()); why != "" {
			missing = append(missing, why)
		}
	}
	return strings.Join(missing, "; "), nil
}

// same says whether the manifest in use is the one in a folder; false where either is missing.
func same(t *task.Task, component, folder string) (bool, error) {
	manifests, err := staticpod.Folder(t)
	if err != nil {
		return false, err
	}
	used, err := os.ReadFile(t.Path(staticpod.File(manifests, component)))
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("read the manifest of %s: %w", component, err)
	}
	other, err := os.ReadFile(t.Path(staticpod.File(folder, component)))
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("read the manifest of %s: %w", component, err)
	}
	return bytes.Equal(used, other), nil
}

// Up says what keeps etcd and the API server of this node from serving as their manifests say.
func Up(ctx context.Context, t *task.Task) string {
	local, err := etcd.Local(t)
	if err != nil {
		return err.Error()
	}
	if local {
		if why := etcdUp(ctx, t); why != "" {
			return why
		}
	}
	return apiUp(ctx, t)
}

// etcdUp says what keeps the local member from serving as its manifest says.
func etcdUp(ctx context.Context, t *task.Task) string {
	if why := runsManifest(ctx, t, staticpod.Etcd); why != "" {
		return why
	}
	if err := etcd.Ping(ctx, t); err != nil {
		return err.Error()
	}
	return ""
}

// apiUp says what keeps the local API server from serving as its manifest says.
func apiUp(ctx context.Context, t *task.Task) string {
	if why := runsManifest(ctx, t, staticpod.APIServer); why != "" {
		return why
	}
	folder, err := staticpod.Folder(t)
	if err != nil {
		return err.Error()
	}
	endpoint, err := staticpod.Endpoint(t, folder)
	if err != nil {
		return err.Error()
	}
	return ready(ctx, t, endpoint)
}

// controllersUp says what keeps the controller manager and the scheduler from running.
func controllersUp(ctx context.Context, t *task.Task) string {
	var missing []string
	for _, component := range []string{staticpod.ControllerManager, staticpod.Scheduler} {
		if why := runsManifest(ctx, t, component); why != "" {
			missing = append(missing, why)
		}
	}
	return strings.Join(missing, "; ")
}

// runsManifest says what keeps a static pod from running as its manifest says.
func runsManifest(ctx context.Context, t *task.Task, component string) string {
	folder, err := staticpod.Folder(t)
	if err != nil {
		return err.Error()
	}
	m, content, err := staticpod.Read(t, folder, component)
	switch {
	case err != nil:
		return err.Error()
	case content == nil:
		return "the manifest of " + component + " is missing"
	}
	return runs(ctx, t, component, m.Image())
}
