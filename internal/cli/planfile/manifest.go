// Package planfile reads a RolloutPlan and nodes from files, and makes of them a cluster that the planner can be asked about.
package planfile

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// head is what every manifest has, a list's items included.
type head struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name string `json:"name"`
	} `json:"metadata"`
	Items []json.RawMessage `json:"items"`
}

func (h head) String() string { return strings.TrimSpace(h.Kind + " " + h.Metadata.Name) }

// each hands on every object of a file, those in lists included, as JSON.
func each(data []byte, take func(h head, object []byte) error) error {
	documents := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(data)))
	for {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		object, err := yaml.YAMLToJSONStrict(document)
		if err != nil {
			return fmt.Errorf("this is no YAML: %w", err)
		}
		if err := one(object, "", take); err != nil {
			return err
		}
	}
}

// one hands on an object. Items of a list such as NodeList have no kind of their own: theirs is the list's.
func one(object []byte, kind string, take func(h head, object []byte) error) error {
	if string(bytes.TrimSpace(object)) == "null" {
		return nil // comments alone
	}
	var h head
	if err := json.Unmarshal(object, &h); err != nil {
		return fmt.Errorf("this is no Kubernetes object, with apiVersion, kind and metadata: %w", err)
	}
	if h.Kind == "" {
		h.Kind = kind
	}
	if h.Kind == "" {
		return errors.New("an object lacks kind: write `kind: RolloutPlan` or `kind: Node`, and its apiVersion")
	}
	of, list := strings.CutSuffix(h.Kind, "List")
	if !list {
		return take(h, object)
	}
	for _, item := range h.Items {
		if err := one(item, of, take); err != nil {
			return err
		}
	}
	return nil
}
