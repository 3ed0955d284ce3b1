package main

import (
	"fmt"
	"os"
	"path/filepath"

	"sigs.k8s.io/yaml"
)

// templates are where CRDs embed Kubernetes' whole JobTemplateSpec, below their spec.
var templates = map[string][]any{
	"managedupgrade.appuio.io_upgradejobhooks.yaml": {"properties", "template"},
	"refit.dev_rolloutplans.yaml":                   {"properties", "groups", "items", "properties", "verify", "properties", "template"},
}

// slim drops the descriptions below the templates of Jobs: they are 95 % of their CRDs, and `kubectl explain job.spec` has them.
func slim() error {
	for file, path := range templates {
		if err := slimOne(filepath.Join(root, "config", "crd", file), path); err != nil {
			return err
		}
	}
	return nil
}

func slimOne(file string, path []any) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var crd map[string]any
	if err := yaml.Unmarshal(data, &crd); err != nil {
		return fmt.Errorf("read %s: %w", file, err)
	}
	template, err := at(crd, append([]any{"spec", "versions", 0, "schema", "openAPIV3Schema", "properties", "spec"}, path...)...)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	for key, below := range template {
		if key != "description" {
			withoutDescriptions(below)
		}
	}
	if data, err = yaml.Marshal(crd); err != nil {
		return err
	}
	return os.WriteFile(file, append([]byte("---\n"), data...), 0o644)
}

// at is the object at a path of keys and indexes.
func at(from any, path ...any) (map[string]any, error) {
	for _, step := range path {
		switch step := step.(type) {
		case string:
			object, ok := from.(map[string]any)
			if !ok {
				return nil, fmt.Errorf("there is no %q", step)
			}
			from = object[step]
		case int:
			list, ok := from.([]any)
			if !ok || len(list) <= step {
				return nil, fmt.Errorf("there is no item %d", step)
			}
			from = list[step]
		}
	}
	object, ok := from.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("there is nothing at %v", path)
	}
	return object, nil
}

// withoutDescriptions removes the texts of a schema, and leaves a property alone that is called description.
func withoutDescriptions(schema any) {
	switch s := schema.(type) {
	case map[string]any:
		if _, text := s["description"].(string); text {
			delete(s, "description")
		}
		for _, below := range s {
			withoutDescriptions(below)
		}
	case []any:
		for _, below := range s {
			withoutDescriptions(below)
		}
	}
}
