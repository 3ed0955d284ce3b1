package oci

import (
	"archive/tar"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"

	"refit.dev/refit/internal/bundle"
)

// maxManifest bounds what is read of a manifest, in bytes.
const maxManifest = 4 << 20

// Inspect reads a bundle's manifest from its image and checks every file against it. The error is a bundle.ChecksumError where
// a file is missing or differs.
func Inspect(img v1.Image) (bundle.Manifest, error) {
	sums, data, err := digestFiles(img)
	if err != nil {
		return bundle.Manifest{}, fmt.Errorf("read the image: %w", err)
	}
	if data == nil {
		return bundle.Manifest{}, fmt.Errorf("the image holds no %s: it is not a bundle that `refit bundle build` made", path.Join(bundle.Dir, bundle.ManifestName))
	}
	m, err := bundle.Parse(data)
	if err != nil {
		return bundle.Manifest{}, err
	}
	if err := checkPaths(m.Version, m.UpgradeFrom, m.DowngradeTo); err != nil {
		return bundle.Manifest{}, fmt.Errorf("the bundle's manifest: %w", err)
	}
	if !fullVersion.MatchString(m.Version) {
		return bundle.Manifest{}, fmt.Errorf("the bundle's manifest: %w", versionError(m.Version))
	}
	if _, found := sums[strings.TrimPrefix(bundle.NodeProgram, "/")]; !found {
		return bundle.Manifest{}, fmt.Errorf("the image holds no %s: build the bundle again with `refit bundle build`", bundle.NodeProgram)
	}
	for _, f := range m.Files {
		got := sums[path.Join(bundle.Dir, f.Path)[1:]]
		if got != f.SHA256 {
			return bundle.Manifest{}, &bundle.ChecksumError{Path: f.Path, Want: f.SHA256, Got: got}
		}
	}
	return m, nil
}

// digestFiles reads an image once, and gives the SHA-256 of each file and the content of the manifest.
func digestFiles(img v1.Image) (sums map[string]string, manifest []byte, err error) {
	content := mutate.Extract(img)
	defer content.Close()
	sums = map[string]string{}
	tr := tar.NewReader(content)
	for {
		header, err := tr.Next()
		if errors.Is(err, io.EOF) {
			return sums, manifest, nil
		}
		if err != nil {
			return nil, nil, err
		}
		if header.Typeflag != tar.TypeReg {
			continue
		}
		file := strings.TrimPrefix(path.Clean(header.Name), "/")
		if "/"+file == path.Join(bundle.Dir, bundle.ManifestName) {
			if manifest, err = io.ReadAll(io.LimitReader(tr, maxManifest)); err != nil {
				return nil, nil, err
			}
			continue
		}
		sum := sha256.New()
		if _, err := io.Copy(sum, tr); err != nil {
			return nil, nil, fmt.Errorf("read %s: %w", file, err)
		}
		sums[file] = hex.EncodeToString(sum.Sum(nil))
	}
}
