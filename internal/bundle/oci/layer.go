package oci

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/compression"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// entry is a file of a layer.
type entry struct {
	path   string // in the image, without a leading slash
	source string // on this machine; content is used where it is empty
	data   []byte
	mode   int64
}

// epoch is every file's time: the same programs give the same image, whenever and wherever it is built.
var epoch = time.Unix(0, 0).UTC()

// newLayer makes a layer of files. zstd is far faster than gzip at both ends, and every containerd since 1.5 reads it.
func newLayer(entries []entry) (v1.Layer, error) {
	slices.SortFunc(entries, func(a, b entry) int { return strings.Compare(a.path, b.path) })
	open := func() (io.ReadCloser, error) {
		r, w := io.Pipe()
		go func() { w.CloseWithError(writeTar(w, entries)) }()
		return r, nil
	}
	layer, err := tarball.LayerFromOpener(open,
		tarball.WithCompression(compression.ZStd), tarball.WithCompressionLevel(1),
		tarball.WithMediaType(types.OCILayerZStd), tarball.WithCompressedCaching)
	if err != nil {
		return nil, fmt.Errorf("make an image layer: %w", err)
	}
	return layer, nil
}

func writeTar(w io.Writer, entries []entry) error {
	tw := tar.NewWriter(w)
	made := map[string]bool{}
	for _, e := range entries {
		if err := writeParents(tw, e.path, made); err != nil {
			return err
		}
		if err := writeEntry(tw, e); err != nil {
			return fmt.Errorf("put %s into the image: %w", e.path, err)
		}
	}
	return tw.Close()
}

func writeParents(tw *tar.Writer, file string, made map[string]bool) error {
	dir := path.Dir(file)
	if dir == "." || made[dir] {
		return nil
	}
	if err := writeParents(tw, dir, made); err != nil {
		return err
	}
	made[dir] = true
	return tw.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: dir + "/", Mode: 0o755, ModTime: epoch})
}

func writeEntry(tw *tar.Writer, e entry) error {
	var content io.Reader = bytes.NewReader(e.data)
	size := int64(len(e.data))
	if e.source != "" {
		file, err := os.Open(e.source)
		if err != nil {
			return err
		}
		defer file.Close()
		info, err := file.Stat()
		if err != nil {
			return err
		}
		content, size = file, info.Size()
	}
	header := &tar.Header{Typeflag: tar.TypeReg, Name: e.path, Size: size, Mode: e.mode, ModTime: epoch}
	if err := tw.WriteHeader(header); err != nil {
		return err
	}
	_, err := io.Copy(tw, content)
	return err
}
