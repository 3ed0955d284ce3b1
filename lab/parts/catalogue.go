package parts

import (
	"fmt"
	"strings"
	"time"

	"golang.org/x/mod/semver"
)

// Versions of the parts that do not follow the Kubernetes version.
const (
	ContainerdVersion = "v2.2.9"
	RuncVersion       = "v1.5.2"
	CNIVersion        = "v1.9.1"
	RegistryVersion   = "v3.1.2"
)

// Release is what kubeadm of one Kubernetes version installs beside Kubernetes itself
// (kubeadm's constants.go of that version).
type Release struct {
	// Kubernetes is the version, e.g. "v1.36.3".
	Kubernetes string
	// Etcd is etcd's version; EtcdTag its image's tag.
	Etcd, EtcdTag string
	// CoreDNS is CoreDNS's version, and its image's tag.
	CoreDNS string
	// Pause is the pause image's tag.
	Pause string
}

var releases = map[string]Release{
	"v1.34": {Etcd: "v3.6.5", EtcdTag: "3.6.5-0", CoreDNS: "v1.12.1", Pause: "3.10.1"},
	"v1.35": {Etcd: "v3.6.6", EtcdTag: "3.6.6-0", CoreDNS: "v1.13.1", Pause: "3.10.1"},
	"v1.36": {Etcd: "v3.6.8", EtcdTag: "3.6.8-0", CoreDNS: "v1.14.2", Pause: "3.10.2"},
}

// ReleaseOf finds what belongs to a Kubernetes version.
func ReleaseOf(version string) (Release, error) {
	r, ok := releases[semver.MajorMinor(version)]
	if !ok {
		return Release{}, fmt.Errorf("the lab has no recipe for Kubernetes %s: it builds minors v1.34, v1.35 and v1.36", version)
	}
	r.Kubernetes = version
	return r, nil
}

// Kubernetes is the seven programs of one Kubernetes version.
func Kubernetes(version string) Part {
	return kubernetesPrograms("kubernetes", version, 7*time.Minute, "kubeadm", "kubelet", "kube-apiserver",
		"kube-controller-manager", "kube-scheduler", "kube-proxy", "kubectl")
}

// kubernetesPrograms is some programs of one Kubernetes version.
func kubernetesPrograms(part, version string, cost time.Duration, names ...string) Part {
	programs := map[string]string{}
	for _, name := range names {
		programs[name] = "k8s.io/kubernetes/cmd/" + name
	}
	return Part{Name: part, Version: version, Files: names, Cost: cost, official: kubernetesDownload(version),
		recipe: goModule{Module: "k8s.io/kubernetes", Version: version, StagedAt: "v0" + strings.TrimPrefix(version, "v1"),
			Programs: programs, LDFlags: kubernetesVersionFlags(version)}}
}

// kubernetesVersionFlags make the programs report their version: without them kubeadm and the kubelet say v0.0.0.
func kubernetesVersionFlags(version string) string {
	major, minor, _ := strings.Cut(strings.TrimPrefix(semver.MajorMinor(version), "v"), ".")
	values := []string{"gitVersion=" + version, "gitMajor=" + major, "gitMinor=" + minor, "gitTreeState=clean",
		"gitCommit=" + strings.Repeat("0", 40), "buildDate=1970-01-01T00:00:00Z"}
	var flags []string
	for _, pkg := range []string{"k8s.io/component-base/version", "k8s.io/client-go/pkg/version"} {
		for _, v := range values {
			flags = append(flags, "-X "+pkg+"."+v)
		}
	}
	return strings.Join(flags, " ")
}

// Etcd is etcd, etcdctl and etcdutl.
func Etcd(version string) Part {
	return Part{Name: "etcd", Version: version, Files: []string{"etcd", "etcdctl", "etcdutl"}, Cost: 90 * time.Second,
		recipe: goModule{Module: "go.etcd.io/etcd/server/v3", Version: version,
			Siblings: []string{"go.etcd.io/etcd/etcdctl/v3", "go.etcd.io/etcd/etcdutl/v3"},
			Programs: map[string]string{"etcd": "go.etcd.io/etcd/server/v3", "etcdctl": "go.etcd.io/etcd/etcdctl/v3",
				"etcdutl": "go.etcd.io/etcd/etcdutl/v3"}}}
}

// Containerd is containerd, its shim and ctr.
func Containerd(version string) Part {
	const cmd = "github.com/containerd/containerd/v2/cmd/"
	return Part{Name: "containerd", Version: version, Files: []string{"containerd", "containerd-shim-runc-v2", "ctr"},
		Cost: 3 * time.Minute, recipe: goModule{Module: "github.com/containerd/containerd/v2", Version: version,
			Programs: map[string]string{"containerd": cmd + "containerd", "ctr": cmd + "ctr",
				"containerd-shim-runc-v2": cmd + "containerd-shim-runc-v2"},
			LDFlags: "-X github.com/containerd/containerd/v2/version.Version=" + version}}
}

// Runc is runc with seccomp: without it every pod sandbox fails.
func Runc(version string) Part {
	return Part{Name: "runc", Version: version, Files: []string{"runc"}, Cost: 20 * time.Second,
		Packages: []string{"libseccomp-dev", "pkg-config", "gcc"},
		recipe: goModule{Module: "github.com/opencontainers/runc", Version: version, CGO: true, Tags: "seccomp",
			Programs: map[string]string{"runc": "github.com/opencontainers/runc"},
			LDFlags:  "-X main.version=" + strings.TrimPrefix(version, "v")}}
}

// CNI is the network plugins that the lab's pod network uses.
func CNI(version string) Part {
	const module = "github.com/containernetworking/plugins"
	programs := map[string]string{"loopback": module + "/plugins/main/loopback", "ptp": module + "/plugins/main/ptp",
		"bridge": module + "/plugins/main/bridge", "host-local": module + "/plugins/ipam/host-local",
		"portmap": module + "/plugins/meta/portmap"}
	return Part{Name: "cni", Version: version, Files: []string{"bridge", "host-local", "loopback", "portmap", "ptp"},
		Cost: 15 * time.Second, recipe: goModule{Module: module, Version: version, Programs: programs,
			LDFlags: "-X github.com/containernetworking/plugins/pkg/utils/buildversion.BuildVersion=" + version}}
}

// CoreDNS is the cluster's name server.
func CoreDNS(version string) Part {
	return Part{Name: "coredns", Version: version, Files: []string{"coredns"}, Cost: 2 * time.Minute,
		recipe: goModule{Module: "github.com/coredns/coredns", Version: version,
			Programs: map[string]string{"coredns": "github.com/coredns/coredns"}}}
}

// Registry is the image registry that stands inside the lab's network.
func Registry() Part {
	const module = "github.com/distribution/distribution/v3"
	return Part{Name: "registry", Version: RegistryVersion, Files: []string{"registry"}, Cost: 40 * time.Second,
		recipe: goModule{Module: module, Version: RegistryVersion,
			Programs: map[string]string{"registry": module + "/cmd/registry"}}}
}

// Pause holds a pod's namespaces.
func Pause() Part {
	return Part{Name: "pause", Version: "v3.10", Files: []string{"pause"}, Cost: time.Second,
		Packages: []string{"gcc", "libc6-dev"}, recipe: cProgram{Source: pauseSource, Program: "pause"}}
}

// RootFS is the root file system of the lab's hosts.
func RootFS() Part {
	return Part{Name: "rootfs", Version: "bookworm", Files: []string{"rootfs.tar"}, Cost: 90 * time.Second,
		Packages: []string{"debootstrap"}, recipe: debian{Suite: "bookworm", Packages: hostPackages}}
}
