// Package staticpod reads what a control plane's static pods are made of.
package staticpod

import (
	"errors"
	"fmt"
	"os"
	"path"
	"strings"

	"sigs.k8s.io/yaml"

	"refit.dev/refit/internal/node/task"
)

// The static pods of a control plane, by the names that kubeadm gives their manifests and containers.
const (
	APIServer         = "kube-apiserver"
	ControllerManager = "kube-controller-manager"
	Scheduler         = "kube-scheduler"
	Etcd              = "etcd"
)

// Components are all of them, in the order in which they are changed.
var Components = []string{Etcd, APIServer, ControllerManager, Scheduler}

// Manifest is what the steps need to know of a static pod.
type Manifest struct {
	Metadata struct {
		Annotations map[string]string `json:"annotations"`
	} `json:"metadata"`
	Spec struct {
		GracePeriod *int64 `json:"terminationGracePeriodSeconds"`
		Containers  []struct {
			Image   string   `json:"image"`
			Command []string `json:"command"`
			Env     []struct {
				Name  string `json:"name"`
				Value string `json:"value"`
			} `json:"env"`
		} `json:"containers"`
	} `json:"spec"`
}

// Image of the pod's first container.
func (m Manifest) Image() string {
	if len(m.Spec.Containers) == 0 {
		return ""
	}
	return m.Spec.Containers[0].Image
}

// Tag is the image's tag, e.g. v1.36.3.
func (m Manifest) Tag() string {
	image := m.Image()
	if i := strings.LastIndex(image, ":"); i > strings.LastIndex(image, "/") {
		tag, _, _ := strings.Cut(image[i+1:], "@")
		return tag
	}
	return ""
}

// Flag is the value of a flag in the pod's command, empty where it has none.
func (m Manifest) Flag(name string) string {
	if len(m.Spec.Containers) == 0 {
		return ""
	}
	for _, arg := range m.Spec.Containers[0].Command {
		if value, ok := strings.CutPrefix(arg, "--"+name+"="); ok {
			return value
		}
	}
	return ""
}

// Folder is where the kubelet reads the manifests of static pods.
func Folder(t *task.Task) (string, error) {
	k, err := t.Kubelet()
	return k.StaticPodPath, err
}

// File is the path of a component's manifest in a folder.
func File(folder, component string) string { return path.Join(folder, component+".yaml") }

// Read reads a manifest; that there is none is no error, and content is nil.
func Read(t *task.Task, folder, component string) (m Manifest, content []byte, err error) {
	content, err = os.ReadFile(t.Path(File(folder, component)))
	if errors.Is(err, os.ErrNotExist) {
		return m, nil, nil
	}
	if err != nil {
		return m, nil, fmt.Errorf("read the manifest of %s: %w", component, err)
	}
	if err := yaml.Unmarshal(content, &m); err != nil {
		return m, content, fmt.Errorf("%s is not the YAML of a pod: %w", File(folder, component), err)
	}
	return m, content, nil
}

// PodName is the name of a static pod as the API server and the container runtime know it.
func PodName(t *task.Task, component string) string { return component + "-" + t.Spec.NodeName }

const advertiseAnnotation = "kubeadm.kubernetes.io/kube-apiserver.advertise-address.endpoint"

// Endpoint is where the local API server listens, from its manifest or from the one that was put aside.
func Endpoint(t *task.Task, folders ...string) (string, error) {
	for _, folder := range folders {
		m, content, err := Read(t, folder, APIServer)
		if err != nil {
			return "", err
		}
		if content == nil {
			continue
		}
		if endpoint := m.Metadata.Annotations[advertiseAnnotation]; endpoint != "" {
			return endpoint, nil
		}
		address, port := m.Flag("advertise-address"), m.Flag("secure-port")
		if address == "" {
			address = "127.0.0.1"
		}
		if port == "" {
			port = "6443"
		}
		if strings.Contains(address, ":") {
			address = "[" + address + "]"
		}
		return address + ":" + port, nil
	}
	return "", fmt.Errorf("there is no manifest of %s in %s", APIServer, strings.Join(folders, " or "))
}
