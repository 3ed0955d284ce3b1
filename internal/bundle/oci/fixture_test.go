package oci

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
)

// answers are what the programs of a test's bundle say, as shell.
func answers(version string) map[string]string {
	return map[string]string{
		"bin/kubeadm": fmt.Sprintf(`case "$1" in version) echo %[1]s;; config) echo W1120 a warning >&2; echo registry.k8s.io/kube-apiserver:%[1]s
echo registry.k8s.io/coredns/coredns:v1.14.2; echo registry.k8s.io/pause:3.10.2; echo registry.k8s.io/etcd:3.6.8-0;; esac`, version),
		"bin/kubelet":                 "echo Kubernetes " + version,
		"bin/kubectl":                 "echo Client Version: " + version,
		"bin/containerd":              "echo containerd github.com/containerd/containerd/v2 v2.2.9",
		"bin/containerd-shim-runc-v2": "exit 0",
		"bin/ctr":                     "exit 0",
		"bin/runc":                    "echo runc version 1.5.2; echo spec: 1.3.0",
		"bin/etcdctl":                 "echo etcdctl version: 3.6.8",
		"bin/etcdutl":                 "echo etcdutl version: 3.6.8",
		"cni/bridge":                  "echo CNI bridge plugin v1.9.1 >&2",
		"cni/loopback":                "echo CNI loopback plugin v1.9.1 >&2",
		"refit-node":                  "exit 0",
	}
}

// parts makes a folder of programs and gives the options to bundle them.
func parts(t *testing.T, version string, change map[string]string) Options {
	t.Helper()
	dir := t.TempDir()
	programs := answers(version)
	for name, body := range change {
		programs[name] = body
	}
	for name, body := range programs {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte("#!/bin/sh\n"+body+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return Options{Version: version, From: dir, RefitNode: filepath.Join(dir, "refit-node")}
}

func digestOf(t *testing.T, opts Options) v1.Hash {
	t.Helper()
	img, _, err := Build(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	return must(img.Digest())
}

func layersOf(t *testing.T, img v1.Image) []v1.Hash {
	t.Helper()
	var digests []v1.Hash
	for _, layer := range must(img.Layers()) {
		digests = append(digests, must(layer.Digest()))
	}
	return digests
}

// with gives the image with one file more, or another one.
func with(t *testing.T, img v1.Image, file, content string) v1.Image {
	t.Helper()
	layer := must(newLayer([]entry{{path: file, data: []byte(content), mode: 0o755}}))
	return must(mutate.AppendLayers(img, layer))
}

// must is for what cannot fail in a test's set-up.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
