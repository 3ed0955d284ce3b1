package host

import (
	"fmt"
	"net/netip"
	"strings"
	"text/template"

	"refit.dev/refit/lab/image"
)

// Settings is what one host's files say.
type Settings struct {
	// Sandbox is the pause image's full name.
	Sandbox string
	// RestrictOOMScore is true where containers may not lower their out-of-memory score.
	RestrictOOMScore bool
	// SystemdCgroup makes systemd, not the runtime, keep the control groups.
	SystemdCgroup bool
	// Pods is the range of this host's pods, AllPods that of all hosts'.
	Pods, AllPods netip.Prefix
	// Routes lead to the pods of the other hosts.
	Routes []Route
	// Registry is host:port of the registry that every image comes from.
	Registry string
	// NameServers are the name servers beyond the cluster's own.
	NameServers []string
}

// Route says behind which host some pods are.
type Route struct {
	Pods netip.Prefix
	Host netip.Addr
}

// ResolvConf is the file with the name servers that pods use outside the cluster. The host's own resolv.conf names
// Docker's server on a loopback address, which CoreDNS takes for itself.
const ResolvConf = "/etc/lab/resolv.conf"

// Files renders the settings into the host's files.
func (s Settings) Files() ([]image.File, error) {
	var all []image.File
	for name, path := range map[string]string{
		"containerd.toml": "etc/containerd/config.toml",
		"10-lab.conflist": "etc/cni/net.d/10-lab.conflist",
		"network":         "etc/lab/network",
	} {
		t, err := template.ParseFS(files, "files/"+name)
		if err != nil {
			return nil, fmt.Errorf("read the template %s: %w", name, err)
		}
		var text strings.Builder
		if err := t.Execute(&text, s); err != nil {
			return nil, fmt.Errorf("render %s: %w", name, err)
		}
		all = append(all, image.File{Path: path, Content: text.String(), Mode: 0o644})
	}
	var resolv strings.Builder
	for _, server := range s.NameServers {
		fmt.Fprintf(&resolv, "nameserver %s\n", server)
	}
	mirror := fmt.Sprintf("[host.\"http://%s\"]\n  capabilities = [\"pull\", \"resolve\"]\n", s.Registry)
	return append(all,
		image.File{Path: strings.TrimPrefix(ResolvConf, "/"), Content: resolv.String(), Mode: 0o644},
		image.File{Path: "etc/containerd/certs.d/_default/hosts.toml", Content: mirror, Mode: 0o644}), nil
}
