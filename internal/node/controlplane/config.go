// Package controlplane brings the static pods of a control plane to a version: kubeadm renders the manifests and does everything
// around them, and the pods themselves are swapped here, in an order in which no request is lost.
package controlplane

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"sigs.k8s.io/yaml"

	"refit.dev/refit/internal/node/staticpod"
	"refit.dev/refit/internal/node/task"
)

const configMapPath = "/api/v1/namespaces/kube-system/configmaps/kubeadm-config"

// PatchesFolder holds kubeadm patches (kube-apiserver.yaml and the like, see kubeadm's --patches) that hand-made changes of
// static pods belong in. It is used where it exists.
const PatchesFolder = "/etc/kubernetes/patches"

// UpgradeConfig is an UpgradeConfiguration of kubeadm that is given to its upgrade commands where it exists.
const UpgradeConfig = "/etc/kubernetes/kubeadm-upgrade.yaml"

// ClusterConfiguration is what kubeadm keeps in the cluster, as it is.
func ClusterConfiguration(ctx context.Context, t *task.Task) (map[string]any, error) {
	api, err := t.API()
	if err != nil {
		return nil, err
	}
	var answer struct {
		Data map[string]string `json:"data"`
	}
	if err := api.GetJSON(ctx, configMapPath, &answer); err != nil {
		return nil, fmt.Errorf("read ConfigMap kube-system/kubeadm-config (was this cluster set up by kubeadm?): %w", err)
	}
	config := map[string]any{}
	if err := yaml.Unmarshal([]byte(answer.Data["ClusterConfiguration"]), &config); err != nil || len(config) == 0 {
		return nil, errors.Join(errors.New("ConfigMap kube-system/kubeadm-config holds no ClusterConfiguration"), err)
	}
	return config, nil
}

// initConfig is the configuration that makes kubeadm render this node's manifests at a version.
func initConfig(t *task.Task, cluster map[string]any, version, endpoint string) ([]byte, error) {
	kubelet, err := t.Kubelet()
	if err != nil {
		return nil, err
	}
	address, port, err := splitEndpoint(endpoint)
	if err != nil {
		return nil, err
	}
	own := map[string]any{
		"apiVersion": cluster["apiVersion"], "kind": "InitConfiguration",
		"nodeRegistration": map[string]any{"name": t.Spec.NodeName, "criSocket": kubelet.RuntimeEndpoint},
		"localAPIEndpoint": map[string]any{"advertiseAddress": address, "bindPort": port},
	}
	patches, err := patches(t)
	if err != nil {
		return nil, err
	}
	if patches != "" {
		own["patches"] = map[string]any{"directory": patches}
	}
	at := map[string]any{}
	for k, v := range cluster {
		at[k] = v
	}
	at["kubernetesVersion"] = version
	first, err := yaml.Marshal(own)
	if err != nil {
		return nil, err
	}
	second, err := yaml.Marshal(at)
	return append(append(first, "---\n"...), second...), err
}

// patches is the folder of kubeadm patches that applies to this node, empty for none.
func patches(t *task.Task) (string, error) {
	content, err := os.ReadFile(t.Path(UpgradeConfig))
	if err == nil {
		var config struct {
			Apply, Node struct {
				Patches struct {
					Directory string `json:"directory"`
				} `json:"patches"`
			}
		}
		if err := yaml.Unmarshal(content, &config); err != nil {
			return "", fmt.Errorf("%s is not YAML of the expected form: %w", UpgradeConfig, err)
		}
		if t.Spec.First {
			return config.Apply.Patches.Directory, nil
		}
		return config.Node.Patches.Directory, nil
	}
	if !errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("read %s: %w", UpgradeConfig, err)
	}
	if ok, err := t.Exists(PatchesFolder); err != nil || !ok {
		return "", err
	}
	return PatchesFolder, nil
}

// proxyEnv is the proxy settings in the API server's manifest: kubeadm takes them from its environment and would lose them.
func proxyEnv(m staticpod.Manifest) []string {
	var env []string
	if len(m.Spec.Containers) == 0 {
		return nil
	}
	for _, e := range m.Spec.Containers[0].Env {
		switch strings.ToLower(e.Name) {
		case "http_proxy", "https_proxy", "no_proxy", "all_proxy":
			env = append(env, e.Name+"="+e.Value)
		}
	}
	return env
}
