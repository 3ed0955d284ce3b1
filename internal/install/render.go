package install

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"text/template"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"
	syaml "sigs.k8s.io/yaml"

	chart "refit.dev/refit/charts/refit"
)

// Options are the chart's values.
type Options struct {
	// Image of the manager, e.g. refit.dev/manager:v1.0.0.
	Image string
	// Replicas of the manager, at least 1.
	Replicas int
	// ExternalEtcd says that etcd runs outside the cluster, so that control planes have none of its certificates. Apply finds this
	// out by itself.
	ExternalEtcd bool
}

// Render gives the objects that make up Refit, in the order in which they are to be applied.
func Render(o Options) ([]*unstructured.Unstructured, error) {
	if o.Image == "" || strings.ContainsAny(o.Image, " \t\n\"'") {
		return nil, fmt.Errorf("image %q is not an image name", o.Image)
	}
	if o.Replicas < 1 {
		return nil, errors.New("there must be at least one replica")
	}
	values := map[string]any{"Values": map[string]any{"image": o.Image, "replicas": o.Replicas, "externalEtcd": o.ExternalEtcd}}
	var objects []*unstructured.Unstructured
	err := fs.WalkDir(chart.Files, "templates", func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path.Ext(file) != ".yaml" {
			return err
		}
		found, err := renderFile(file, values)
		objects = append(objects, found...)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("render the manifests: %w", err)
	}
	slices.SortStableFunc(objects, func(a, b *unstructured.Unstructured) int { return rank(a) - rank(b) })
	return objects, nil
}

func renderFile(file string, values map[string]any) ([]*unstructured.Unstructured, error) {
	text, err := fs.ReadFile(chart.Files, file)
	if err != nil {
		return nil, err
	}
	parsed, err := template.New(file).Option("missingkey=error").Parse(string(text))
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := parsed.Execute(&out, values); err != nil {
		return nil, err
	}
	return decode(&out)
}

func decode(r io.Reader) ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	decoder := yaml.NewYAMLOrJSONDecoder(r, 4096)
	for {
		var document runtime.RawExtension
		err := decoder.Decode(&document)
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		if err != nil {
			return nil, err
		}
		if len(document.Raw) == 0 || string(document.Raw) == "null" {
			continue // an empty document
		}
		object := &unstructured.Unstructured{}
		if err := object.UnmarshalJSON(document.Raw); err != nil {
			return nil, err
		}
		objects = append(objects, object)
	}
}

// order of kinds: what others need comes first.
var order = []string{"Namespace", "CustomResourceDefinition", "PriorityClass", "ServiceAccount", "ClusterRole", "Role",
	"ClusterRoleBinding", "RoleBinding", "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding", "ConfigMap", "Service", "PodDisruptionBudget", "PriorityLevelConfiguration", "FlowSchema", "Deployment"}

func rank(o *unstructured.Unstructured) int {
	if i := slices.Index(order, o.GetKind()); i >= 0 {
		return i
	}
	return len(order)
}

// YAML is the objects as `kubectl apply -f` takes them.
func YAML(objects []*unstructured.Unstructured) ([]byte, error) {
	var out bytes.Buffer
	for _, o := range objects {
		data, err := syaml.Marshal(o.Object)
		if err != nil {
			return nil, fmt.Errorf("write %s: %w", Name(o), err)
		}
		out.WriteString("---\n")
		out.Write(data)
	}
	return out.Bytes(), nil
}

// Name is how a person calls an object, e.g. deployment refit-system/refit-manager.
func Name(o *unstructured.Unstructured) string {
	name := o.GetName()
	if o.GetNamespace() != "" {
		name = o.GetNamespace() + "/" + name
	}
	return strings.ToLower(o.GetKind()) + " " + name
}
