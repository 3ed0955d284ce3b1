package fakehost

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"strings"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/bundle"
	"refit.dev/refit/internal/node/host"
	"refit.dev/refit/internal/node/spec"
	"refit.dev/refit/internal/node/staticpod"
	"refit.dev/refit/internal/node/task"
)

// writeSettings writes what kubeadm set up.
func (h *Host) writeSettings(p pair, socket string) {
	healthz := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if !h.Systemd.runs(host.KubeletUnit) {
			http.Error(w, "not running", http.StatusServiceUnavailable)
		}
	}))
	h.t.Cleanup(healthz.Close)
	port := healthz.URL[strings.LastIndex(healthz.URL, ":")+1:]
	// The socket is outside of the root folder, so its path is told relative to it.
	up := strings.Repeat("../", strings.Count(h.Root, "/"))
	h.Write("/var/lib/kubelet/config.yaml", fmt.Sprintf("cgroupDriver: cgroupfs\nfailCgroupV1: false\nhealthzPort: %s\ncontainerRuntimeEndpoint: unix://%s\n",
		port, up+socket[1:]), 0o644)
	// With a flag to take out, so that the power is also cut around that.
	h.Write("/var/lib/kubelet/kubeadm-flags.env", "KUBELET_KUBEADM_ARGS=\"--pod-infra-container-image=registry.k8s.io/pause:3.10\"\n", 0o644)
	h.Write("/var/lib/kubelet/pki/kubelet-client-current.pem", string(p.cert), 0o600)
	kubeconfig := fmt.Sprintf(`apiVersion: v1
kind: Config
current-context: c
contexts: [{name: c, context: {cluster: k, user: u}}]
clusters: [{name: k, cluster: {server: "https://%s", certificate-authority-data: %s}}]
users: [{name: u, user: {client-certificate-data: %s, client-key-data: %s}}]
`, h.api.address, b64(p.cert), b64(p.cert), b64(p.key))
	h.Write("/etc/kubernetes/admin.conf", kubeconfig, 0o600)
	h.Write("/etc/kubernetes/kubelet.conf", kubeconfig, 0o600)
	for _, name := range []string{"ca", "server", "healthcheck-client"} {
		h.Write("/etc/kubernetes/pki/etcd/"+name+".crt", string(p.cert), 0o600)
		h.Write("/etc/kubernetes/pki/etcd/"+name+".key", string(p.key), 0o600)
	}
	h.Write("/etc/kubernetes/pki/ca.crt", string(p.cert), 0o600)
	h.Write("/cluster-version", From+"\n", 0o644)
	h.must(os.MkdirAll(h.Path("/sys/fs/cgroup"), 0o755))
}

func b64(b []byte) string { return base64.StdEncoding.EncodeToString(b) }

// program is a script that only knows its version.
func program(name, version string) string {
	return fmt.Sprintf("#!/bin/sh\n# %s\necho %s %s\n", name, name, version)
}

// writePrograms writes the old programs where they are, and the new ones where copy-binaries puts them.
func (h *Host) writePrograms() {
	installed := map[string]string{
		"bin/kubeadm": "/usr/bin/kubeadm", "bin/kubelet": "/usr/bin/kubelet", "bin/kubectl": "/usr/bin/kubectl",
		"bin/containerd": "/usr/bin/containerd", "bin/containerd-shim-runc-v2": "/usr/bin/containerd-shim-runc-v2", "bin/ctr": "/usr/bin/ctr",
		"bin/runc": "/usr/sbin/runc", "cni/bridge": "/opt/cni/bin/bridge",
	}
	staged := map[string]string{"bin/etcdctl": h.etcdctl(), "bin/etcdutl": etcdutl}
	for file, target := range installed {
		name := path.Base(file)
		h.Write(target, program(name, From), 0o755)
		staged[file] = program(name, To)
	}
	staged["bin/kubeadm"] = h.kubeadm(To)
	h.Write("/usr/bin/kubeadm", h.kubeadm(From), 0o755)
	for file, content := range staged {
		h.Stage(file, content)
	}
	h.bundle.Version = To
	h.bundle.Components = []v1alpha1.Component{{Name: "containerd", Version: "v2.2.9"}, {Name: "etcd", Version: "3.6.8-0"}}
	for _, name := range []string{staticpod.APIServer, staticpod.ControllerManager, staticpod.Scheduler, "kube-proxy"} {
		h.bundle.Images = append(h.bundle.Images, "registry.k8s.io/"+name+":"+To)
	}
	h.bundle.Images = append(h.bundle.Images, "registry.k8s.io/coredns/coredns:v1.14.2", "registry.k8s.io/pause:3.10.2", "registry.k8s.io/etcd:3.6.8-0")
}

// Stage puts a file into the bundle and into the version's folder on the host.
func (h *Host) Stage(file, content string) {
	h.t.Helper()
	target := path.Join(spec.VersionDir(To), file)
	h.Write(target, content, 0o755)
	entry := bundle.File{Path: file, Component: "any", SHA256: h.Sum(target), Size: int64(len(content))}
	for i := range h.bundle.Files {
		if h.bundle.Files[i].Path == file {
			h.bundle.Files[i] = entry
			return
		}
	}
	h.bundle.Files = append(h.bundle.Files, entry)
}

func (h *Host) etcdctl() string {
	return fmt.Sprintf(`#!/bin/sh
case "$1 $2" in
"endpoint status") echo '[{"Status":{"header":{"member_id":1},"version":"3.6.8","leader":1,"dbSize":4096}}]' ;;
"member list") echo '{"members":[{"ID":1,"name":"cp-1","clientURLs":["https://127.0.0.1:1"]}]}' ;;
"snapshot save") echo a-snapshot > "%s$3" ;;
esac
`, h.Root)
}

const etcdutl = `#!/bin/sh
echo '{"hash":255,"revision":42,"totalKey":7,"totalSize":4096}'
`

// kubeadm is a script that renders templates, and notes what it was asked to do.
func (h *Host) kubeadm(version string) string {
	return fmt.Sprintf(`#!/bin/sh
# kubeadm %[2]s
root=%[1]s
config() { for a in "$@"; do [ "$last" = --config ] && echo "$root$a"; last=$a; done; }
render() { v=$(sed -n 's/^kubernetesVersion: //p' "$(config "$@")"); for c in $components; do
  cp "$root/templates/$v/$c.yaml" "$root$KUBEADM_INIT_DRYRUN_DIR/$c.yaml" || exit 1; done; }
echo "$*" >> "$root/kubeadm.calls"
[ -e "$root/kubeadm.fails" ] && { echo "error: not today"; exit 1; }
case "$1 $2 $3" in
"version -o short") echo %[2]s ;;
"init phase control-plane") components="kube-apiserver kube-controller-manager kube-scheduler"; render "$@" ;;
"init phase etcd") components=etcd; render "$@" ;;
"upgrade apply %[2]s") echo %[2]s > "$root/cluster-version" ;;
esac
exit 0
`, h.Root, version)
}

// writeTemplates writes what kubeadm renders at each version.
func (h *Host) writeTemplates() {
	for version, etcd := range etcdTags {
		for _, component := range staticpod.Components {
			tag := version
			if component == staticpod.Etcd {
				tag = etcd
			}
			h.Write(path.Join("/templates", version, component+".yaml"), h.manifest(component, tag), 0o644)
		}
	}
}

// writeManifests puts the manifests of a version in use.
func (h *Host) writeManifests(version string) {
	for _, component := range staticpod.Components {
		h.Write(staticpod.File(task.DefaultManifests, component), h.Read(path.Join("/templates", version, component+".yaml")), 0o600)
	}
}

func (h *Host) manifest(component, tag string) string {
	return fmt.Sprintf(`apiVersion: v1
kind: Pod
metadata:
  annotations:
    kubeadm.kubernetes.io/kube-apiserver.advertise-address.endpoint: %s
  name: %s
spec:
  containers:
  - command:
    - %s
    - --listen-client-urls=https://%s,https://10.0.0.1:2379
    image: registry.k8s.io/%s:%s
    name: %s
`, h.api.address, component, component, h.etcd.address, component, tag, component)
}
