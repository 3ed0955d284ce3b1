// Command generate drops what is too long from the CRDs, and writes the chart's templates from config/: the manifests with the manager's image and the number of
// replicas made values, what stands between `# chart: unless VALUE` and `# chart: end` left out where VALUE is true, and the CRDs marked to outlive the release.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// root is the repository, seen from the folder of the go:generate line.
const root = "../.."

var (
	imageLine    = regexp.MustCompile(`(?m)^(\s+(?:- )?image:) refit\.dev/manager:\S+$`)
	replicasLine = regexp.MustCompile(`(?m)^(  replicas:) [0-9]+$`)
	unlessLine   = regexp.MustCompile(`(?m)^ *# chart: unless (\w+)$`)
	endLine      = regexp.MustCompile(`(?m)^ *# chart: end$`)
	crdName      = regexp.MustCompile(`(?m)^  annotations:\n`)
)

func main() {
	if err := generate(); err != nil {
		fmt.Fprintln(os.Stderr, "generate the chart:", err)
		os.Exit(1)
	}
}

func generate() error {
	if err := slim(); err != nil {
		return err
	}
	if err := os.RemoveAll("templates"); err != nil {
		return err
	}
	for _, folder := range []string{"crd", "admission", "rbac", "manager"} {
		if err := copyFolder(folder); err != nil {
			return err
		}
	}
	return nil
}

func copyFolder(folder string) error {
	files, err := filepath.Glob(filepath.Join(root, "config", folder, "*.yaml"))
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join("templates", folder), 0o755); err != nil {
		return err
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if data, err = template(folder, data); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		if err := os.WriteFile(filepath.Join("templates", folder, filepath.Base(file)), data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// template makes a manifest a template. What the two template languages would read otherwise is refused.
func template(folder string, data []byte) ([]byte, error) {
	if bytes.Contains(data, []byte("{{")) {
		return nil, errors.New("holds {{, which a template would read")
	}
	if folder == "crd" {
		if !crdName.Match(data) {
			return nil, errors.New("has no annotations to add to")
		}
		return crdName.ReplaceAll(data, []byte("  annotations:\n    helm.sh/resource-policy: keep\n")), nil
	}
	if len(unlessLine.FindAll(data, -1)) != len(endLine.FindAll(data, -1)) {
		return nil, errors.New("has another number of `# chart: end` than of `# chart: unless`")
	}
	data = unlessLine.ReplaceAll(data, []byte("{{- if not .Values.${1} }}"))
	data = endLine.ReplaceAll(data, []byte("{{- end }}"))
	data = imageLine.ReplaceAll(data, []byte("${1} {{ .Values.image }}"))
	if strings.Contains(string(data), "kind: Deployment") {
		data = replicasLine.ReplaceAll(data, []byte("${1} {{ .Values.replicas }}"))
	}
	return data, nil
}
