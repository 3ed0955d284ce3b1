package oci

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/bundle"
)

// Options say what to build a bundle from.
type Options struct {
	// Version of Kubernetes that the programs are, e.g. v1.36.3.
	Version string
	// From is a folder with bin/ (kubeadm, kubelet, kubectl, containerd, containerd-shim-runc-v2, ctr, runc, etcdctl,
	// etcdutl) and cni/ (the plugins).
	From string
	// RefitNode is the refit-node program.
	RefitNode string
	// UpgradeFrom are the versions or minors that can be upgraded to this one. Default: the minor itself and the one before.
	UpgradeFrom []string
	// DowngradeTo are the patch versions that this one may go back to. Default: none.
	DowngradeTo []string
	// AppliedPatches and AvailablePatches are as in a KubernetesVersion.
	AppliedPatches, AvailablePatches []string
	// Networking names the manifests to apply with this version.
	Networking *v1alpha1.Networking
}

// Build makes a bundle's image. The same programs and options give the same image, to the byte. The programs are run, to
// ask them for their versions.
func Build(ctx context.Context, opts Options) (v1.Image, bundle.Manifest, error) {
	found, m, err := describe(ctx, opts)
	if err != nil {
		return nil, bundle.Manifest{}, err
	}
	var layers []v1.Layer
	for _, component := range layerOrder {
		layer, err := componentLayer(opts.From, found[component])
		if err != nil {
			return nil, bundle.Manifest{}, err
		}
		layers = append(layers, layer)
	}
	program, err := newLayer([]entry{{path: strings.TrimPrefix(bundle.NodeProgram, "/"), source: opts.RefitNode, mode: 0o755}})
	if err != nil {
		return nil, bundle.Manifest{}, err
	}
	data, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return nil, bundle.Manifest{}, fmt.Errorf("write the bundle's manifest: %w", err)
	}
	top, err := newLayer([]entry{{path: path.Join(bundle.Dir, bundle.ManifestName)[1:], data: data, mode: 0o644}})
	if err != nil {
		return nil, bundle.Manifest{}, err
	}
	img, err := newImage(append(layers, program, top), bundle.NodeProgram, map[string]string{
		"org.opencontainers.image.title":   "Kubernetes " + m.Version + " for Refit",
		"org.opencontainers.image.version": m.Version,
	})
	return img, m, err
}

// describe works out the manifest.
func describe(ctx context.Context, opts Options) (map[string][]string, bundle.Manifest, error) {
	m := bundle.Manifest{Version: opts.Version, UpgradeFrom: opts.UpgradeFrom, DowngradeTo: opts.DowngradeTo,
		AppliedPatches: opts.AppliedPatches, AvailablePatches: opts.AvailablePatches, Networking: opts.Networking}
	usual, err := defaultUpgradeFrom(opts.Version)
	if err != nil {
		return nil, m, err
	}
	if len(m.UpgradeFrom) == 0 {
		m.UpgradeFrom = usual
	}
	if err := checkPaths(m.Version, m.UpgradeFrom, m.DowngradeTo); err != nil {
		return nil, m, err
	}
	if info, err := os.Stat(opts.RefitNode); err != nil || !info.Mode().IsRegular() {
		return nil, m, fmt.Errorf("refit-node is not at %q: build it, and pass its place with --refit-node", opts.RefitNode)
	}
	found, err := contents(opts.From)
	if err != nil {
		return nil, m, err
	}
	if err := checkKubernetes(ctx, opts.From, m.Version); err != nil {
		return nil, m, err
	}
	if m.Images, err = listImages(ctx, opts.From, m.Version); err != nil {
		return nil, m, err
	}
	if m.Components, err = components(ctx, opts.From, m.Version, found[bundle.ComponentCNI], m.Images); err != nil {
		return nil, m, err
	}
	m.Files, err = describeFiles(opts.From, found)
	return found, m, err
}

func describeFiles(from string, found map[string][]string) ([]bundle.File, error) {
	var files []bundle.File
	for component, paths := range found {
		for _, p := range paths {
			f, err := describeFile(filepath.Join(from, filepath.FromSlash(p)))
			if err != nil {
				return nil, err
			}
			f.Path, f.Component = p, component
			files = append(files, f)
		}
	}
	slices.SortFunc(files, func(a, b bundle.File) int { return strings.Compare(a.Path, b.Path) })
	return files, nil
}

func describeFile(source string) (bundle.File, error) {
	file, err := os.Open(source)
	if err != nil {
		return bundle.File{}, fmt.Errorf("read a program to bundle: %w", err)
	}
	defer file.Close()
	sum := sha256.New()
	size, err := io.Copy(sum, file)
	if err != nil {
		return bundle.File{}, fmt.Errorf("read a program to bundle: %w", err)
	}
	return bundle.File{SHA256: hex.EncodeToString(sum.Sum(nil)), Size: size}, nil
}

func componentLayer(from string, paths []string) (v1.Layer, error) {
	entries := make([]entry, 0, len(paths))
	for _, p := range paths {
		entries = append(entries, entry{
			path:   path.Join(bundle.Dir, p)[1:],
			source: filepath.Join(from, filepath.FromSlash(p)),
			mode:   0o755,
		})
	}
	return newLayer(entries)
}
