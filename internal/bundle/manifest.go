package bundle

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"refit.dev/refit/api/v1alpha1"
)

// Where things are in a bundle's image.
const (
	// Dir is the folder of the image that holds the manifest and the programs.
	Dir = "/bundle"
	// ManifestName is the manifest's file name within Dir.
	ManifestName = "manifest.json"
	// NodeProgram is the image's entry point.
	NodeProgram = "/refit-node"
)

// File is one program of a bundle.
type File struct {
	// Path is relative to the bundle's folder and uses slashes, e.g. "bin/kubelet".
	Path string `json:"path"`
	// Component that the program belongs to, e.g. "kubernetes".
	Component string `json:"component"`
	// SHA256 of the content, in lower-case hexadecimal.
	SHA256 string `json:"sha256"`
	// Size in bytes.
	Size int64 `json:"size"`
}

// Manifest says what a bundle holds and which versions it can be installed over.
type Manifest struct {
	// Version of Kubernetes, e.g. v1.36.3.
	Version string `json:"version"`
	// UpgradeFrom, DowngradeTo, AppliedPatches and AvailablePatches are as in a KubernetesVersion.
	UpgradeFrom      []string `json:"upgradeFrom,omitempty"`
	DowngradeTo      []string `json:"downgradeTo,omitempty"`
	AppliedPatches   []string `json:"appliedPatches,omitempty"`
	AvailablePatches []string `json:"availablePatches,omitempty"`
	// Components are the versions of what the bundle holds, and of the images that kubeadm installs.
	Components []v1alpha1.Component `json:"components,omitempty"`
	// Files are the programs, sorted by path.
	Files []File `json:"files"`
	// Images are what `kubeadm config images list` prints for the version.
	Images []string `json:"images,omitempty"`
	// Networking names the manifests to apply with this version, if any.
	Networking *v1alpha1.Networking `json:"networking,omitempty"`
}

// Read reads the manifest of the bundle in a folder, which is /bundle inside the bundle's image.
func Read(dir string) (Manifest, error) {
	data, err := os.ReadFile(filepath.Join(dir, ManifestName))
	if err != nil {
		return Manifest{}, fmt.Errorf("read the bundle's manifest: %w", err)
	}
	return Parse(data)
}

// Parse reads a manifest and refuses one that is unusable: without version or files, or with paths that leave the folder.
func Parse(data []byte) (Manifest, error) {
	var m Manifest
	if err := json.Unmarshal(data, &m); err != nil {
		return Manifest{}, fmt.Errorf("parse the bundle's manifest: %w", err)
	}
	if m.Version == "" {
		return Manifest{}, errors.New("the bundle's manifest names no version: build the bundle again with `refit bundle build`")
	}
	if len(m.Files) == 0 {
		return Manifest{}, errors.New("the bundle's manifest names no files: build the bundle again with `refit bundle build`")
	}
	for _, f := range m.Files {
		if !fs.ValidPath(f.Path) || f.Path == "." || f.Path == ManifestName || path.IsAbs(f.Path) {
			return Manifest{}, fmt.Errorf("the bundle's manifest names a file outside the bundle: %q", f.Path)
		}
	}
	return m, nil
}

// Component is the version of a component, empty where the bundle names none.
func (m *Manifest) Component(name string) string {
	for _, c := range m.Components {
		if c.Name == name {
			return c.Version
		}
	}
	return ""
}

// Verify checks every file of the bundle in a folder against its checksum. The error is a ChecksumError where a file
// is missing or differs.
func (m *Manifest) Verify(dir string) error {
	for _, f := range m.Files {
		if err := f.verifyIn(dir); err != nil {
			return err
		}
	}
	return nil
}

func (f File) verifyIn(dir string) error {
	file, err := os.Open(filepath.Join(dir, filepath.FromSlash(f.Path)))
	if errors.Is(err, fs.ErrNotExist) {
		return &ChecksumError{Path: f.Path, Want: f.SHA256}
	}
	if err != nil {
		return fmt.Errorf("open %s of the bundle: %w", f.Path, err)
	}
	defer file.Close()
	return f.VerifyReader(file)
}

// VerifyReader checks what a reader gives against the file's checksum. The error is a ChecksumError where it differs.
func (f File) VerifyReader(r io.Reader) error {
	sum := sha256.New()
	if _, err := io.Copy(sum, r); err != nil {
		return fmt.Errorf("read %s of the bundle: %w", f.Path, err)
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != f.SHA256 {
		return &ChecksumError{Path: f.Path, Want: f.SHA256, Got: got}
	}
	return nil
}

// ChecksumError says that a file of a bundle is not what the manifest says it is.
type ChecksumError struct {
	// Path of the file within the bundle.
	Path string
	// Want is the manifest's SHA-256; Got is the file's, empty where there is no such file.
	Want, Got string
}

// Error names the file and what to do.
func (e *ChecksumError) Error() string {
	if e.Got == "" {
		return fmt.Sprintf("bundle is damaged: %s is missing (its manifest lists it): copy or build the bundle again", e.Path)
	}
	return fmt.Sprintf("bundle is damaged: %s has checksum sha256:%s, its manifest says sha256:%s: copy or build the bundle again",
		e.Path, e.Got, e.Want)
}
