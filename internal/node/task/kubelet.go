package task

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"sigs.k8s.io/yaml"

	"refit.dev/refit/internal/node/cri"
)

// Where kubeadm keeps the kubelet's settings.
const (
	kubeletConfig   = "/var/lib/kubelet/config.yaml"
	kubeletInstance = "/var/lib/kubelet/instance-config.yaml"
	KubeletFlags    = "/var/lib/kubelet/kubeadm-flags.env"
)

// DefaultManifests is where kubeadm puts the manifests of static pods.
const DefaultManifests = "/etc/kubernetes/manifests"

// Kubelet is what the steps need to know of the kubelet's settings.
type Kubelet struct {
	// CgroupDriver is cgroupfs or systemd.
	CgroupDriver string `json:"cgroupDriver"`
	// FailCgroupV1 makes a kubelet from 1.31 on refuse to start on cgroup v1. Its default is true from 1.35 on.
	FailCgroupV1 *bool `json:"failCgroupV1"`
	// RuntimeEndpoint is where the kubelet finds the container runtime.
	RuntimeEndpoint string `json:"containerRuntimeEndpoint"`
	// StaticPodPath is the folder of the static pods' manifests.
	StaticPodPath string `json:"staticPodPath"`
	// HealthzPort on 127.0.0.1. Default 10248.
	HealthzPort int `json:"healthzPort"`
}

// Kubelet reads the kubelet's settings as kubeadm keeps them.
func (t *Task) Kubelet() (Kubelet, error) {
	var k Kubelet
	content, err := os.ReadFile(t.Path(kubeletConfig))
	if err != nil {
		return k, fmt.Errorf("read the kubelet's settings (is this node set up by kubeadm?): %w", err)
	}
	if err := yaml.Unmarshal(content, &k); err != nil {
		return k, fmt.Errorf("%s is not YAML of the expected form: %w", kubeletConfig, err)
	}
	if err := t.readInstance(&k); err != nil {
		return k, err
	}
	if endpoint := t.kubeletFlag("--container-runtime-endpoint"); endpoint != "" {
		k.RuntimeEndpoint = endpoint
	}
	if driver := t.kubeletFlag("--cgroup-driver"); driver != "" {
		k.CgroupDriver = driver
	}
	k.setDefaults()
	return k, nil
}

func (k *Kubelet) setDefaults() {
	if k.RuntimeEndpoint == "" {
		k.RuntimeEndpoint = cri.DefaultEndpoint
	}
	if k.StaticPodPath == "" {
		k.StaticPodPath = DefaultManifests
	}
	if k.HealthzPort == 0 {
		k.HealthzPort = 10248
	}
	if k.CgroupDriver == "" {
		k.CgroupDriver = "cgroupfs"
	}
}

// readInstance reads the settings of this one node, which newer versions of kubeadm keep apart.
func (t *Task) readInstance(k *Kubelet) error {
	content, err := os.ReadFile(t.Path(kubeletInstance))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the kubelet's settings of this node: %w", err)
	}
	var own struct {
		RuntimeEndpoint string `json:"containerRuntimeEndpoint"`
	}
	if err := yaml.Unmarshal(content, &own); err != nil {
		return fmt.Errorf("%s is not YAML of the expected form: %w", kubeletInstance, err)
	}
	if own.RuntimeEndpoint != "" {
		k.RuntimeEndpoint = own.RuntimeEndpoint
	}
	return nil
}

// kubeletFlag is the value of a flag in kubeadm-flags.env: KUBELET_KUBEADM_ARGS="--a=b --c=d".
func (t *Task) kubeletFlag(name string) string {
	content, err := os.ReadFile(t.Path(KubeletFlags))
	if err != nil {
		return "" // the file is optional
	}
	for line := range strings.Lines(string(content)) {
		_, args, ok := strings.Cut(strings.TrimSpace(line), "KUBELET_KUBEADM_ARGS=")
		if !ok {
			continue
		}
		for _, arg := range strings.Fields(strings.Trim(args, `"'`)) {
			if value, ok := strings.CutPrefix(arg, name+"="); ok {
				return value
			}
		}
	}
	return ""
}
