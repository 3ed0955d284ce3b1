package oci

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"refit.dev/refit/internal/bundle"
)

// programs of bin/ that every bundle holds, and the component that each belongs to.
var programs = map[string]string{
	"kubeadm":                 bundle.ComponentKubernetes,
	"kubelet":                 bundle.ComponentKubernetes,
	"kubectl":                 bundle.ComponentKubernetes,
	"containerd":              bundle.ComponentContainerd,
	"containerd-shim-runc-v2": bundle.ComponentContainerd,
	"ctr":                     bundle.ComponentContainerd,
	"runc":                    bundle.ComponentRunc,
	"etcdctl":                 bundle.ComponentEtcd,
	"etcdutl":                 bundle.ComponentEtcd,
}

// layerOrder puts what changes least first. A component is a layer, so that versions share what they have in common.
var layerOrder = []string{bundle.ComponentCNI, bundle.ComponentRunc, bundle.ComponentContainerd, bundle.ComponentEtcd, bundle.ComponentKubernetes}

// contents lists the programs in a folder that has bin/ and cni/, by component. It refuses a folder where one is missing
// or where there is one that it does not know.
func contents(from string) (map[string][]string, error) {
	found := map[string][]string{}
	bin, err := regularFiles(from, "bin")
	if err != nil {
		return nil, err
	}
	for _, name := range bin {
		component, known := programs[name]
		if !known {
			return nil, fmt.Errorf("%s is not a program that a bundle holds: remove it; bin/ is to hold %s",
				filepath.Join(from, "bin", name), strings.Join(programNames(), ", "))
		}
		found[component] = append(found[component], path.Join("bin", name))
	}
	var missing []string
	for _, name := range programNames() {
		if !slices.Contains(bin, name) {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		return nil, fmt.Errorf("%s lacks %s: put them there", filepath.Join(from, "bin"), strings.Join(missing, ", "))
	}
	cni, err := regularFiles(from, "cni")
	if err != nil {
		return nil, err
	}
	if len(cni) == 0 {
		return nil, fmt.Errorf("%s is empty: put the CNI plugins there (loopback at least)", filepath.Join(from, "cni"))
	}
	for _, name := range cni {
		found[bundle.ComponentCNI] = append(found[bundle.ComponentCNI], path.Join("cni", name))
	}
	return found, nil
}

// regularFiles are the names of the files in a folder, sorted; links are followed, since they may lead into a cache.
func regularFiles(from, dir string) ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(from, dir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s has no folder %s: a bundle is built from a folder with bin/ (kubeadm, kubelet, …) and cni/ (loopback, …)", from, dir)
	}
	if err != nil {
		return nil, fmt.Errorf("read the programs to bundle: %w", err)
	}
	var names []string
	for _, e := range entries {
		info, err := os.Stat(filepath.Join(from, dir, e.Name()))
		if err != nil {
			return nil, fmt.Errorf("look at a program to bundle: %w", err)
		}
		if !info.Mode().IsRegular() {
			return nil, fmt.Errorf("%s is not a file: remove it", filepath.Join(from, dir, e.Name()))
		}
		names = append(names, e.Name())
	}
	return names, nil
}

func programNames() []string {
	names := make([]string, 0, len(programs))
	for name := range programs {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}
