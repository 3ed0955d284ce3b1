package prometheus

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// The files of a Source's folder.
const (
	fileURL        = "url"
	fileCA         = "ca.crt"
	fileToken      = "token"
	fileServerName = "server-name"
)

// ErrNone says that no endpoint is configured.
var ErrNone = errors.New("no Prometheus is configured: put its address into the Secret refit-prometheus of namespace refit-system, as key url (and ca.crt and token where it needs them)")

// Source finds the endpoint to ask: from a folder, which the Secret refit-prometheus is mounted at, so that a change needs no restart; or
// else a fixed one.
type Source struct {
	// Dir holds the files url and, where they are needed, ca.crt, token and server-name. Without url there, Fixed counts.
	Dir string
	// Fixed is the endpoint where the folder names none; nil for none.
	Fixed *Endpoint
}

// Client asks the endpoint that is configured now. ErrNone says that there is none.
func (s Source) Client() (*Client, error) {
	e, err := s.endpoint()
	if err != nil {
		return nil, err
	}
	return New(e)
}

func (s Source) endpoint() (Endpoint, error) {
	if s.Dir != "" {
		url, err := s.read(fileURL)
		if err != nil {
			return Endpoint{}, err
		}
		if url != "" {
			name, err := s.read(fileServerName)
			return Endpoint{URL: url, CAFile: s.existing(fileCA), TokenFile: s.existing(fileToken), ServerName: name}, err
		}
	}
	if s.Fixed != nil {
		return *s.Fixed, nil
	}
	return Endpoint{}, ErrNone
}

// read is the text of a file of the folder, empty where there is none.
func (s Source) read(file string) (string, error) {
	data, err := os.ReadFile(filepath.Join(s.Dir, file))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read where Prometheus is: %w", err)
	}
	return strings.TrimSpace(string(data)), nil
}

// existing is the path of a file of the folder, empty where there is none.
func (s Source) existing(file string) string {
	path := filepath.Join(s.Dir, file)
	if _, err := os.Stat(path); err != nil {
		return ""
	}
	return path
}
