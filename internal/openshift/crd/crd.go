// Package crd installs OpenShift's own kinds into an API server that is not OpenShift's. The definitions are those of the module
// github.com/openshift/api that Refit is built with; the checkout holds no copy of them.
package crd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// module is where the definitions lie.
const module = "github.com/openshift/api"

// listTimeout bounds the look for the module's folder.
const listTimeout = time.Minute

// files are the definitions, relative to the module's folder.
var files = []string{
	"config/v1/zz_generated.crd-manifests/0000_00_cluster-version-operator_01_clusteroperators.crd.yaml",
	"config/v1/zz_generated.crd-manifests/0000_00_cluster-version-operator_01_clusterversions-Default.crd.yaml",
	"machineconfiguration/v1/zz_generated.crd-manifests/0000_80_machine-config_01_machineconfigpools.crd.yaml",
}

// Files are the paths of the definitions of ClusterOperator, ClusterVersion and MachineConfigPool, in this order. It runs
// `go list`, and fails where there is no Go, no source tree or no such module in Go's cache.
func Files(ctx context.Context) ([]string, error) {
	dir, err := folder(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]string, 0, len(files))
	for _, f := range files {
		path := filepath.Join(dir, filepath.FromSlash(f))
		if _, err := os.Stat(path); err != nil {
			return nil, fmt.Errorf("find a definition of OpenShift's kinds: %w", err)
		}
		out = append(out, path)
	}
	return out, nil
}

// folder is the module's folder in Go's cache.
func folder(ctx context.Context) (string, error) {
	_, source, _, ok := runtime.Caller(0)
	if !ok {
		return "", errors.New("find the source tree: this program was built without its paths")
	}
	ctx, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", module)
	cmd.Dir = filepath.Dir(source)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("find the folder of module %s: %w %s", module, err, strings.TrimSpace(stderr.String()))
	}
	dir := strings.TrimSpace(string(out))
	if dir == "" {
		return "", fmt.Errorf("module %s is not in Go's cache: run go mod download", module)
	}
	return dir, nil
}
