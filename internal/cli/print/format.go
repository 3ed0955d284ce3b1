package print

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// Format is how a command prints what it found.
type Format string

// The formats.
const (
	Plain Format = ""
	Wide  Format = "wide"
	JSON  Format = "json"
	YAML  Format = "yaml"
)

// Formats are those that a command with a table knows, for completion.
var Formats = []string{string(Wide), string(JSON), string(YAML)}

// Set reads the format from a flag.
func (f *Format) Set(text string) error {
	if text == "table" {
		text = ""
	}
	if text != "" && !slices.Contains(Formats, text) {
		return fmt.Errorf("must be one of table, %s", strings.Join(Formats, ", "))
	}
	*f = Format(text)
	return nil
}

// String is the format as the flag spells it.
func (f *Format) String() string {
	if *f == Plain {
		return "table"
	}
	return string(*f)
}

// Type is what the flag's help calls the format.
func (f *Format) Type() string { return "format" }

// Machine says whether a program is to read the output.
func (f *Format) Machine() bool { return *f == JSON || *f == YAML }

// Value writes a value as JSON or YAML.
func (f *Format) Value(w io.Writer, value any) error {
	var data []byte
	var err error
	if *f == YAML {
		data, err = yaml.Marshal(value)
	} else {
		data, err = json.MarshalIndent(value, "", "  ")
		data = append(data, '\n')
	}
	if err != nil {
		return fmt.Errorf("write as %s: %w", *f, err)
	}
	return All(w, data)
}

// Next writes a value as the next one of a stream: a line of JSON, or a YAML document.
func (f *Format) Next(w io.Writer, value any) error {
	var data []byte
	var err error
	if *f == YAML {
		data, err = yaml.Marshal(value)
		data = append([]byte("---\n"), data...)
	} else {
		data, err = json.Marshal(value)
		data = append(data, '\n')
	}
	if err != nil {
		return fmt.Errorf("write as %s: %w", *f, err)
	}
	return All(w, data)
}

// All writes output.
func All(w io.Writer, data []byte) error {
	if _, err := w.Write(data); err != nil {
		return fmt.Errorf("write the output: %w", err)
	}
	return nil
}
