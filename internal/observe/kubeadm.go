package observe

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"refit.dev/refit/internal/snapshot"
)

const kubeadmConfig = "kubeadm-config"

// readKubeadm reads what kubeadm remembers of the cluster.
func readKubeadm(ctx context.Context, r client.Reader) (snapshot.Kubeadm, error) {
	var config corev1.ConfigMap
	err := r.Get(ctx, client.ObjectKey{Namespace: systemNamespace, Name: kubeadmConfig}, &config)
	if apierrors.IsNotFound(err) {
		return snapshot.Kubeadm{}, nil
	}
	if err != nil {
		return snapshot.Kubeadm{}, fmt.Errorf("get ConfigMap %s/%s: %w", systemNamespace, kubeadmConfig, err)
	}
	var cluster struct {
		KubernetesVersion string `json:"kubernetesVersion"`
	}
	if err := yaml.Unmarshal([]byte(config.Data["ClusterConfiguration"]), &cluster); err != nil {
		return snapshot.Kubeadm{Found: true}, fmt.Errorf("read the ClusterConfiguration in ConfigMap %s/%s: %w", systemNamespace, kubeadmConfig, err)
	}
	return snapshot.Kubeadm{Found: true, KubernetesVersion: cluster.KubernetesVersion}, nil
}
