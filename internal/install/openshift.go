package install

import (
	"context"
	"fmt"

	configv1 "github.com/openshift/api/config/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// masterTaint is what OpenShift keeps ordinary pods away from control planes with.
const masterTaint = "node-role.kubernetes.io/master"

// isOpenShift says whether the cluster serves OpenShift's API: Refit upgrades it by its own operators.
func isOpenShift(m meta.RESTMapper) (bool, error) {
	_, err := m.RESTMapping(configv1.GroupVersion.WithKind("ClusterVersion").GroupKind(), configv1.GroupVersion.Version)
	if meta.IsNoMatchError(err) {
		return false, nil
	}
	return err == nil, err
}

// forOpenShift is the Deployment as OpenShift runs it: without etcd's certificates, as no particular user, and on its control planes.
func forOpenShift(o *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	o, err := withoutEtcd(o)
	if err != nil {
		return nil, err
	}
	pod, _, err := unstructured.NestedMap(o.Object, "spec", "template", "spec")
	if err != nil {
		return nil, fmt.Errorf("%s: %w", Name(o), err)
	}
	tolerations, _, err := unstructured.NestedSlice(pod, "tolerations")
	if err != nil {
		return nil, fmt.Errorf("%s: %w", Name(o), err)
	}
	pod["tolerations"] = append(tolerations, map[string]any{"key": masterTaint, "operator": "Exists", "effect": "NoSchedule"})
	containers, _, err := unstructured.NestedSlice(pod, "containers")
	if err != nil {
		return nil, fmt.Errorf("%s: %w", Name(o), err)
	}
	for _, c := range containers {
		if container, ok := c.(map[string]any); ok {
			unstructured.RemoveNestedField(container, "securityContext", "runAsUser")
		}
	}
	pod["containers"] = containers
	return o, unstructured.SetNestedMap(o.Object, pod, "spec", "template", "spec")
}

// monitoring lets the manager ask OpenShift's Prometheus for alerts.
func monitoring() *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": map[string]any{"name": "refit-manager-monitoring"},
		"roleRef":  map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-monitoring-view"},
		"subjects": []any{map[string]any{"kind": "ServiceAccount", "name": "refit-manager", "namespace": "refit-system"}},
	}}
}

// fitOpenShift makes the objects fit OpenShift.
func fitOpenShift(objects []*unstructured.Unstructured) ([]*unstructured.Unstructured, error) {
	var out []*unstructured.Unstructured
	for _, o := range objects {
		if o.GetKind() == "Deployment" {
			var err error
			if o, err = forOpenShift(o); err != nil {
				return nil, err
			}
		}
		out = append(out, o)
	}
	return append(out, monitoring()), nil
}

// CheckCluster makes sure that the cluster is one that Refit upgrades: kubeadm's, or OpenShift.
func CheckCluster(ctx context.Context, c client.Client) error {
	openShift, err := isOpenShift(c.RESTMapper())
	if err != nil {
		return fmt.Errorf("look whether the cluster is OpenShift: %w", err)
	}
	if openShift {
		return nil
	}
	return CheckKubeadm(ctx, c)
}
