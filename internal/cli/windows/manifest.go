package windows

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"refit.dev/refit/api/managedupgrade/v1beta1"
)

// Manifests are what was read from files.
type Manifests struct {
	Configs     []v1beta1.UpgradeConfig
	Suspensions []v1beta1.UpgradeSuspensionWindow
	// PassedOver are the other objects, each with its file.
	PassedOver []string

	files   map[Name]string
	decoder runtime.Decoder
}

// NewManifests holds nothing yet.
func NewManifests() (*Manifests, error) {
	scheme := runtime.NewScheme()
	if err := v1beta1.AddToScheme(scheme); err != nil {
		return nil, fmt.Errorf("register the kinds: %w", err)
	}
	return &Manifests{files: map[Name]string{}, decoder: serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer()}, nil
}

// FileOf is where a config is from.
func (m *Manifests) FileOf(c *v1beta1.UpgradeConfig) string { return m.files[NameOf(c)] }

// head is what every manifest has, a list's items included.
type head struct {
	APIVersion string            `json:"apiVersion"`
	Kind       string            `json:"kind"`
	Metadata   Name              `json:"metadata"`
	Items      []json.RawMessage `json:"items"`
}

func (h head) String() string { return strings.TrimSpace(h.Kind + " " + h.Metadata.String()) }

// Read reads the documents of a file. Objects without a namespace are put into the given one.
func (m *Manifests) Read(file string, data []byte, namespace string) error {
	documents := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(data)))
	for {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		if err := m.document(file, document, namespace); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
}

func (m *Manifests) document(file string, data []byte, namespace string) error {
	var content any
	if err := yaml.Unmarshal(data, &content); err != nil {
		return fmt.Errorf("this is no YAML: %w", err)
	}
	if content == nil {
		return nil // comments alone
	}
	var h head
	if err := yaml.Unmarshal(data, &h); err != nil {
		return fmt.Errorf("this is no Kubernetes object, with apiVersion, kind and metadata: %w", err)
	}
	switch {
	case h.Kind == "" || h.APIVersion == "":
		return errors.New("an object lacks apiVersion or kind: write `apiVersion: " + v1beta1.GroupVersion.String() + "` and `kind: UpgradeConfig`")
	case strings.HasSuffix(h.Kind, "List"):
		for _, item := range h.Items {
			if err := m.document(file, item, namespace); err != nil {
				return err
			}
		}
		return nil
	}
	if err := checkTimes(h, content); err != nil {
		return err
	}
	object, _, err := m.decoder.Decode(data, nil, nil)
	if runtime.IsNotRegisteredError(err) {
		m.PassedOver = append(m.PassedOver, fmt.Sprintf("%s of %s", h, file))
		return nil
	}
	if err != nil {
		return fmt.Errorf("%s: %w", h, wrongField(h, err))
	}
	return m.take(file, h, object, namespace)
}

// take keeps an object that can be read.
func (m *Manifests) take(file string, h head, object runtime.Object, namespace string) error {
	if h.Metadata.Name == "" {
		return fmt.Errorf("%s: metadata.name is missing", h)
	}
	switch o := object.(type) {
	case *v1beta1.UpgradeConfig:
		if o.Namespace == "" {
			o.Namespace = namespace
		}
		m.Configs = append(m.Configs, *o)
		m.files[NameOf(o)] = file
	case *v1beta1.UpgradeSuspensionWindow:
		if o.Spec.End.Before(&o.Spec.Start) {
			return fmt.Errorf("%s: spec.end is before spec.start: exchange them", h)
		}
		if o.Namespace == "" {
			o.Namespace = namespace
		}
		m.Suspensions = append(m.Suspensions, *o)
	default:
		m.PassedOver = append(m.PassedOver, fmt.Sprintf("%s of %s", h, file))
	}
	return nil
}
