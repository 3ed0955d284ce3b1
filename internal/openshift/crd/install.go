package crd

import (
	"context"
	"fmt"
	"os"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

const (
	// servedTimeout bounds how long all definitions may take until they are served; it takes about a second.
	servedTimeout = time.Minute
	// servedInterval is how often to look.
	servedInterval = 100 * time.Millisecond
	owner          = client.FieldOwner("refit-openshift-crd")
)

// Install applies the definitions to a running API server, and returns when it serves the kinds. Kinds that are there already are
// brought to the definitions of the module.
func Install(ctx context.Context, config *rest.Config) error {
	paths, err := Files(ctx)
	if err != nil {
		return err
	}
	c, err := client.New(config, client.Options{})
	if err != nil {
		return fmt.Errorf("make a client to install OpenShift's kinds: %w", err)
	}
	var kinds []schema.GroupVersionKind
	for _, path := range paths {
		o, err := read(path)
		if err != nil {
			return err
		}
		if err := c.Apply(ctx, client.ApplyConfigurationFromUnstructured(o), owner, client.ForceOwnership); err != nil {
			return fmt.Errorf("apply %s: %w", path, err)
		}
		kind, err := defined(o)
		if err != nil {
			return fmt.Errorf("read %s: %w", path, err)
		}
		kinds = append(kinds, kind)
	}
	ctx, cancel := context.WithTimeout(ctx, servedTimeout)
	defer cancel()
	for _, kind := range kinds {
		if err := served(ctx, config, kind); err != nil {
			return fmt.Errorf("wait until %s is served: %w", kind.Kind, err)
		}
	}
	return nil
}

func read(path string) (*unstructured.Unstructured, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read a definition of OpenShift's kinds: %w", err)
	}
	o := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(data, &o.Object); err != nil {
		return nil, fmt.Errorf("parse %s: %w", path, err)
	}
	return o, nil
}

// defined is the list kind of a definition's first version.
func defined(o *unstructured.Unstructured) (schema.GroupVersionKind, error) {
	group, _, err := unstructured.NestedString(o.Object, "spec", "group")
	if err != nil {
		return schema.GroupVersionKind{}, err
	}
	list, _, err := unstructured.NestedString(o.Object, "spec", "names", "listKind")
	if err != nil {
		return schema.GroupVersionKind{}, err
	}
	versions, _, err := unstructured.NestedSlice(o.Object, "spec", "versions")
	if err != nil {
		return schema.GroupVersionKind{}, err
	}
	if len(versions) == 0 {
		return schema.GroupVersionKind{}, fmt.Errorf("%s has no version", o.GetName())
	}
	first, _ := versions[0].(map[string]any)
	version, _, err := unstructured.NestedString(first, "name")
	return schema.GroupVersionKind{Group: group, Version: version, Kind: list}, err
}

// served waits until the kind can be listed. Each look has a new client, as a client remembers which kinds there are.
func served(ctx context.Context, config *rest.Config, kind schema.GroupVersionKind) error {
	return wait.PollUntilContextCancel(ctx, servedInterval, true, func(ctx context.Context) (bool, error) {
		c, err := client.New(config, client.Options{})
		if err != nil {
			return false, err
		}
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(kind)
		err = c.List(ctx, list, client.Limit(1))
		if apierrors.IsNotFound(err) || meta.IsNoMatchError(err) {
			return false, nil
		}
		return err == nil, err
	})
}
