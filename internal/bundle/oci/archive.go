package oci

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/renameio/v2"
)

// WriteArchive writes an image into a file, as the tar of an OCI layout: `ctr image import`, podman, skopeo and `docker
// load` (25 and later) read it, and so does OpenArchive. The file appears whole or not at all.
func WriteArchive(img v1.Image, ref, file string) error {
	dir, err := os.MkdirTemp(filepath.Dir(file), ".refit-bundle-*")
	if err != nil {
		return fmt.Errorf("write %s: %w", file, err)
	}
	defer os.RemoveAll(dir)
	target, err := layout.Write(dir, empty.Index)
	if err != nil {
		return fmt.Errorf("write %s: %w", file, err)
	}
	names := map[string]string{"org.opencontainers.image.ref.name": ref}
	if err := target.AppendImage(img, layout.WithAnnotations(names)); err != nil {
		return fmt.Errorf("write %s: %w", file, err)
	}
	out, err := renameio.NewPendingFile(file, renameio.WithPermissions(0o644))
	if err != nil {
		return fmt.Errorf("write %s: %w", file, err)
	}
	defer out.Cleanup()
	if err := tarFolder(out, dir); err != nil {
		return fmt.Errorf("write %s: %w", file, err)
	}
	if err := out.CloseAtomicallyReplace(); err != nil {
		return fmt.Errorf("write %s: %w", file, err)
	}
	return nil
}

// tarFolder writes a folder's files in the order of their names, all with the same time and rights.
func tarFolder(w io.Writer, dir string) error {
	tw := tar.NewWriter(w)
	err := filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		inside, err := filepath.Rel(dir, file)
		if err != nil {
			return err
		}
		return writeEntry(tw, entry{path: filepath.ToSlash(inside), source: file, mode: 0o644})
	})
	if err != nil {
		return err
	}
	return tw.Close()
}

// OpenArchive reads an image that WriteArchive wrote. Close removes what was unpacked, once the image is no longer needed.
func OpenArchive(file string) (img v1.Image, closeArchive func() error, err error) {
	dir, err := os.MkdirTemp("", "refit-bundle-*")
	if err != nil {
		return nil, nil, fmt.Errorf("unpack %s: %w", file, err)
	}
	remove := func() error { return os.RemoveAll(dir) }
	img, err = openArchiveIn(dir, file)
	if err != nil {
		return nil, nil, errors.Join(err, remove())
	}
	return img, remove, nil
}

func openArchiveIn(dir, file string) (v1.Image, error) {
	if err := untar(file, dir); err != nil {
		return nil, fmt.Errorf("unpack %s: %w", file, err)
	}
	index, err := layout.ImageIndexFromPath(dir)
	if err != nil {
		return nil, fmt.Errorf("%s is not a bundle's archive, as `refit bundle build --output` writes it: %w", file, err)
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		return nil, fmt.Errorf("read the index of %s: %w", file, err)
	}
	var images []v1.Hash
	for _, d := range manifest.Manifests {
		if d.MediaType.IsImage() {
			images = append(images, d.Digest)
		}
	}
	if len(images) != 1 {
		return nil, fmt.Errorf("%s holds %d images, a bundle's archive holds one", file, len(images))
	}
	img, err := layout.Path(dir).Image(images[0])
	if err != nil {
		return nil, fmt.Errorf("read the image in %s: %w", file, err)
	}
	return img, nil
}

func untar(file, dir string) error {
	in, err := os.Open(file)
	if err != nil {
		return err
	}
	defer in.Close()
	root, err := os.OpenRoot(dir) // no name in the archive leads out of the folder
	if err != nil {
		return err
	}
	defer root.Close()
	tr := tar.NewReader(in)
	for {
		header, err := tr.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if header.Typeflag != tar.TypeReg {
			continue
		}
		if err := unpack(root, filepath.FromSlash(header.Name), tr); err != nil {
			return err
		}
	}
}

func unpack(root *os.Root, name string, content io.Reader) error {
	if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	out, err := root.Create(name)
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, content); err != nil {
		return errors.Join(err, out.Close())
	}
	return out.Close()
}
