package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"refit.dev/refit/internal/openshift/crd"
	"refit.dev/refit/lab/parts"
)

// programTimeout bounds the start and the end of each of the two programs.
const programTimeout = 90 * time.Second

// mark is the first line of the kubeconfigs of this program: only such a file is overwritten.
const mark = "# Written by test/openshift for a cluster that ends with it.\n"

// cluster is a running API server on the loopback interface.
type cluster struct {
	config      *rest.Config
	environment *envtest.Environment
	// kubeconfig and kubectl are paths.
	kubeconfig, kubectl string
}

// start starts the API server, installs OpenShift's kinds and Refit's, and writes the kubeconfig. On an error nothing is left.
func start(ctx context.Context, kubeconfig string, out io.Writer) (_ *cluster, err error) {
	if err := writable(kubeconfig); err != nil {
		return nil, err
	}
	assets, err := programs(ctx, out)
	if err != nil {
		return nil, err
	}
	_, source, _, _ := runtime.Caller(0)
	c := &cluster{kubeconfig: kubeconfig, kubectl: filepath.Join(assets, "kubectl"), environment: &envtest.Environment{
		BinaryAssetsDirectory:    assets,
		CRDDirectoryPaths:        []string{filepath.Join(filepath.Dir(source), "..", "..", "config", "crd")},
		ErrorIfCRDPathMissing:    true,
		ControlPlaneStartTimeout: programTimeout,
		ControlPlaneStopTimeout:  programTimeout,
	}}
	c.config, err = c.environment.Start()
	defer func() {
		if err != nil {
			err = errors.Join(err, c.stop())
		}
	}()
	if err != nil {
		return nil, fmt.Errorf("start the API server of %s: %w", assets, err)
	}
	c.config.QPS, c.config.Burst = 200, 400
	if err := crd.Install(ctx, c.config); err != nil {
		return nil, err
	}
	if err := os.WriteFile(kubeconfig, append([]byte(mark), c.environment.KubeConfig...), 0o600); err != nil {
		return nil, fmt.Errorf("write the kubeconfig: %w", err)
	}
	return c, nil
}

// stop ends the programs, and removes the kubeconfig.
func (c *cluster) stop() error {
	err := c.environment.Stop()
	if err != nil {
		err = fmt.Errorf("stop the API server: %w", err)
	}
	if errRemove := os.Remove(c.kubeconfig); errRemove != nil && !errors.Is(errRemove, fs.ErrNotExist) {
		return errors.Join(err, fmt.Errorf("remove the kubeconfig: %w", errRemove))
	}
	return err
}

// programs is the folder of kube-apiserver, etcd and kubectl: KUBEBUILDER_ASSETS, or the lab's, which are built when they are missing.
func programs(ctx context.Context, out io.Writer) (string, error) {
	if dir := os.Getenv("KUBEBUILDER_ASSETS"); dir != "" {
		return dir, nil
	}
	store, err := parts.OpenStore()
	if err != nil {
		return "", err
	}
	return store.Envtest(ctx, out, parts.EnvtestVersion)
}

// writable refuses to overwrite a file that is not this program's.
func writable(kubeconfig string) error {
	old, err := os.ReadFile(kubeconfig)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("look at the old kubeconfig: %w", err)
	case !bytes.HasPrefix(old, []byte(mark)):
		return fmt.Errorf("%s is not a kubeconfig of this program: name another file with --kubeconfig", kubeconfig)
	}
	return nil
}
