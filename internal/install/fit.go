package install

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	syaml "sigs.k8s.io/yaml"
)

// etcdVolumes is how the names of the volumes with etcd's certificates begin.
const etcdVolumes = "etcd-"

// fit makes the objects fit the cluster: a manager that mounts certificates which control planes do not have would never start.
func fit(ctx context.Context, c client.Client, objects []*unstructured.Unstructured) ([]*unstructured.Unstructured, error) {
	openShift, err := isOpenShift(c.RESTMapper())
	if err != nil {
		return nil, fmt.Errorf("look whether the cluster is OpenShift: %w", err)
	}
	if openShift {
		return fitOpenShift(objects)
	}
	external, err := externalEtcd(ctx, c)
	if err != nil || !external {
		return objects, err
	}
	var out []*unstructured.Unstructured
	for _, o := range objects {
		if o.GetKind() == "Deployment" {
			if o, err = withoutEtcd(o); err != nil {
				return nil, err
			}
		}
		out = append(out, o)
	}
	return out, nil
}

// externalEtcd says whether kubeadm was told of an etcd outside the cluster.
func externalEtcd(ctx context.Context, c client.Reader) (bool, error) {
	var config corev1.ConfigMap
	err := c.Get(ctx, client.ObjectKey{Namespace: metav1.NamespaceSystem, Name: "kubeadm-config"}, &config)
	if err != nil {
		return false, client.IgnoreNotFound(err)
	}
	var cluster struct {
		Etcd struct {
			External *struct{} `json:"external"`
		} `json:"etcd"`
	}
	if err := syaml.Unmarshal([]byte(config.Data["ClusterConfiguration"]), &cluster); err != nil {
		return false, fmt.Errorf("read the ClusterConfiguration in ConfigMap kube-system/kubeadm-config: %w", err)
	}
	return cluster.Etcd.External != nil, nil
}

// withoutEtcd is the Deployment as it is rendered for an etcd outside the cluster.
func withoutEtcd(o *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	o = o.DeepCopy()
	pod, _, err := unstructured.NestedMap(o.Object, "spec", "template", "spec")
	if err != nil {
		return nil, fmt.Errorf("%s: %w", Name(o), err)
	}
	drop(pod, "volumes")
	containers, _, err := unstructured.NestedSlice(pod, "containers")
	if err != nil {
		return nil, fmt.Errorf("%s: %w", Name(o), err)
	}
	for _, c := range containers {
		if container, ok := c.(map[string]any); ok {
			drop(container, "volumeMounts")
		}
	}
	pod["containers"] = containers
	return o, unstructured.SetNestedMap(o.Object, pod, "spec", "template", "spec")
}

// drop removes from a list what is named after etcd, and the list where nothing is left of it.
func drop(from map[string]any, list string) {
	items, _ := from[list].([]any)
	items = slices.DeleteFunc(items, func(item any) bool {
		named, _ := item.(map[string]any)
		name, _ := named["name"].(string)
		return strings.HasPrefix(name, etcdVolumes)
	})
	if len(items) == 0 {
		delete(from, list)
		return
	}
	from[list] = items
}
