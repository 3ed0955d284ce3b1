package controlplane

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path"
	"strconv"
	"time"

	"refit.dev/refit/internal/node/etcd"
	"refit.dev/refit/internal/node/host"
	"refit.dev/refit/internal/node/staticpod"
	"refit.dev/refit/internal/node/task"
)

// renderDeadline bounds one kubeadm command that only writes files.
const renderDeadline = time.Minute

// Render has a kubeadm write this node's manifests at a version into a new folder, which is complete or not there.
// It changes nothing else.
func Render(ctx context.Context, t *task.Task, kubeadm, version, into string) error {
	folder, err := staticpod.Folder(t)
	if err != nil {
		return err
	}
	endpoint, err := staticpod.Endpoint(t, folder, oldFolder(t))
	if err != nil {
		return err
	}
	cluster, err := ClusterConfiguration(ctx, t)
	if err != nil {
		return err
	}
	config, err := initConfig(t, cluster, version, endpoint)
	if err != nil {
		return err
	}
	temp := into + ".partial"
	if err := errors.Join(os.RemoveAll(t.Path(temp)), t.MakeFolder(temp)); err != nil {
		return fmt.Errorf("make an empty folder for the new manifests: %w", err)
	}
	configFile := path.Join(temp, "kubeadm.yaml")
	if err := t.Replacer().Content(config, t.Path(configFile), "", 0o600); err != nil {
		return err
	}
	if err := render(ctx, t, kubeadm, configFile, temp); err != nil {
		return err
	}
	if err := errors.Join(t.Disk.SyncFolder(t.Path(temp)), os.RemoveAll(t.Path(into))); err != nil {
		return fmt.Errorf("replace the rendered manifests: %w", err)
	}
	return errors.Join(t.Disk.Rename(t.Path(temp), t.Path(into)), t.Disk.SyncFolder(path.Dir(t.Path(into))))
}

func render(ctx context.Context, t *task.Task, kubeadm, configFile, into string) error {
	folder, err := staticpod.Folder(t)
	if err != nil {
		return err
	}
	current, _, err := staticpod.Read(t, folder, staticpod.APIServer)
	if err != nil {
		return err
	}
	phases := [][]string{{"control-plane", "all"}}
	local, err := etcd.Local(t)
	if err != nil {
		return err
	}
	if local {
		phases = append(phases, []string{"etcd", "local"})
	}
	for _, phase := range phases {
		args := append([]string{"init", "phase"}, append(phase, "--dry-run", "--config", configFile)...)
		_, err := t.Run(ctx, host.Command{Program: kubeadm, Args: args, Deadline: renderDeadline, Quiet: true,
			Env: append(proxyEnv(current), "KUBEADM_INIT_DRYRUN_DIR="+into)})
		if err != nil {
			return fmt.Errorf("render the static pods' manifests: %w", err)
		}
	}
	for _, component := range staticpod.Components {
		if component == staticpod.Etcd && !local {
			continue
		}
		if _, content, err := staticpod.Read(t, into, component); err != nil || content == nil {
			return errors.Join(fmt.Errorf("kubeadm rendered no manifest of %s", component), err)
		}
	}
	return nil
}

func splitEndpoint(endpoint string) (string, int, error) {
	address, port, err := net.SplitHostPort(endpoint)
	if err != nil {
		return "", 0, fmt.Errorf("the API server's address %q: %w", endpoint, err)
	}
	number, err := strconv.Atoi(port)
	return address, number, err
}

// newFolder and oldFolder hold the manifests to be, and those that were.
func newFolder(t *task.Task) string { return t.State("manifests-new") }
func oldFolder(t *task.Task) string { return t.State("manifests-old") }

// seenFolder holds copies of the manifests as they were last seen whole.
func seenFolder(t *task.Task) string { return t.State("manifests-seen") }
