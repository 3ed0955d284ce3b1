package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"refit.dev/refit/lab/parts"
)

// kwokVersion is the release of kwok that the stages are written for: earlier ones cannot change a Node by a Pod's step.
const kwokVersion = "v0.8.0"

// programs are paths.
type programs struct {
	// assets is the folder of kube-apiserver and etcd.
	assets, kwok, manager string
}

func findPrograms(ctx context.Context, s settings, out io.Writer) (programs, error) {
	p := programs{assets: os.Getenv("KUBEBUILDER_ASSETS"), kwok: s.kwok, manager: s.manager}
	if p.manager == "" {
		p.manager = filepath.Join(root(), "bin", "refit-manager")
	}
	if _, err := os.Stat(p.manager); err != nil {
		return p, fmt.Errorf("find the manager (`make build` makes it): %w", err)
	}
	if p.assets == "" {
		store, err := parts.OpenStore()
		if err != nil {
			return p, err
		}
		if p.assets, err = store.Envtest(ctx, out, parts.EnvtestVersion); err != nil {
			return p, err
		}
	}
	if p.kwok != "" {
		return p, nil
	}
	var err error
	p.kwok, err = buildKwok(ctx, out)
	return p, err
}

// buildKwok builds kwok from the Go module proxy into the cache folder, once. It is no requirement of this module: its own
// requirements are of another Kubernetes release.
func buildKwok(ctx context.Context, out io.Writer) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find the cache folder: %w", err)
	}
	dir := filepath.Join(cache, "refit", "kwok", kwokVersion)
	program := filepath.Join(dir, "kwok")
	if _, err := os.Stat(program); err == nil {
		return program, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("make the folder for kwok: %w", err)
	}
	fmt.Fprintf(out, "Building kwok %s, once; this takes a few minutes\n", kwokVersion)
	build := exec.CommandContext(ctx, "go", "install", "sigs.k8s.io/kwok/cmd/kwok@"+kwokVersion)
	build.Dir, build.Env = dir, append(os.Environ(), "GOBIN="+dir, "GOWORK=off", "CGO_ENABLED=0")
	if text, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build kwok: %w: %s", err, text)
	}
	return program, nil
}

// root is the folder of the product.
func root() string {
	_, source, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(source), "..", "..")
}
