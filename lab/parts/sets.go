package parts

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// EnvtestVersion is the Kubernetes version that controllers are tested against.
const EnvtestVersion = "v1.36.3"

// Bundle is what the bundle of a Kubernetes version is made of.
func Bundle(r Release) []Part {
	return []Part{Kubernetes(r.Kubernetes), Etcd(r.Etcd), Containerd(ContainerdVersion), Runc(RuncVersion), CNI(CNIVersion)}
}

// bundleFiles are the files of a bundle by the folder they lie in, out of the parts.
func bundleFiles(r Release) map[string]struct {
	part  Part
	files []string
} {
	type files = struct {
		part  Part
		files []string
	}
	return map[string]files{
		"kubernetes": {Kubernetes(r.Kubernetes), []string{"kubeadm", "kubelet", "kubectl"}},
		"containerd": {Containerd(ContainerdVersion), Containerd(ContainerdVersion).Files},
		"runc":       {Runc(RuncVersion), []string{"runc"}},
		"etcd":       {Etcd(r.Etcd), []string{"etcdctl", "etcdutl"}},
		"cni":        {CNI(CNIVersion), CNI(CNIVersion).Files},
	}
}

// CollectBundle fills dir with bin/ and cni/, the programs of a version's bundle. The parts must be built.
func (s *Store) CollectBundle(r Release, dir string) error {
	for name, group := range bundleFiles(r) {
		folder := filepath.Join(dir, "bin")
		if name == "cni" {
			folder = filepath.Join(dir, "cni")
		}
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return fmt.Errorf("make a folder for the bundle's programs: %w", err)
		}
		for _, file := range group.files {
			if err := copyProgram(s.Path(group.part, file), filepath.Join(folder, file)); err != nil {
				return fmt.Errorf("collect %s: %w", file, err)
			}
		}
	}
	return nil
}

// copyProgram copies a file, so that whoever spoils the copy does not spoil the cache.
func copyProgram(source, target string) (err error) {
	in, err := os.Open(source)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(target, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	_, err = io.Copy(out, in)
	return err
}

// Envtest makes a folder with kube-apiserver, etcd and kubectl for KUBEBUILDER_ASSETS, building what is missing, and
// returns it. Where the whole Kubernetes version is not built, it builds only the two programs.
func (s *Store) Envtest(ctx context.Context, w io.Writer, version string) (string, error) {
	release, err := ReleaseOf(version)
	if err != nil {
		return "", err
	}
	kubernetes, etcd := Kubernetes(version), Etcd(release.Etcd)
	if !s.Has(kubernetes) {
		kubernetes = kubernetesPrograms("envtest", version, 4*time.Minute, "kube-apiserver", "kubectl")
	}
	if err := s.Build(ctx, w, kubernetes, etcd); err != nil {
		return "", fmt.Errorf("build the programs for controller tests: %w", err)
	}
	dir := filepath.Join(s.root, "envtest", version)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("make the folder for controller tests: %w", err)
	}
	for name, target := range map[string]string{"kube-apiserver": s.Path(kubernetes, "kube-apiserver"),
		"kubectl": s.Path(kubernetes, "kubectl"), "etcd": s.Path(etcd, "etcd")} {
		if err := pointTo(filepath.Join(dir, name), target); err != nil {
			return "", fmt.Errorf("link %s: %w", name, err)
		}
	}
	return dir, nil
}

// pointTo makes link a symbolic link to target in one step, whatever it was before: several test runs may do the same.
func pointTo(link, target string) error {
	if now, err := os.Readlink(link); err == nil && now == target {
		return nil
	}
	scratch := fmt.Sprintf("%s.%d", link, os.Getpid())
	if err := os.Symlink(target, scratch); err != nil {
		return err
	}
	return os.Rename(scratch, link)
}
