package image

import (
	"archive/tar"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// layer is files packed anew each time they are read, and not compressed: between containers of one machine,
// compression costs more time than it saves.
type layer struct {
	pack func(io.Writer) error
	hash v1.Hash
	size int64
}

// newLayer packs once to learn the digest and the size.
func newLayer(pack func(io.Writer) error) (v1.Layer, error) {
	sum := sha256.New()
	count := &counter{}
	if err := pack(io.MultiWriter(sum, count)); err != nil {
		return nil, err
	}
	return &layer{pack: pack, hash: v1.Hash{Algorithm: "sha256", Hex: hex.EncodeToString(sum.Sum(nil))}, size: count.n}, nil
}

// packFiles is a layer's content out of files.
func packFiles(files []File) func(io.Writer) error {
	return func(w io.Writer) error {
		archive := tar.NewWriter(w)
		return errors.Join(WriteFiles(archive, files), archive.Close())
	}
}

func (l *layer) Digest() (v1.Hash, error)            { return l.hash, nil }
func (l *layer) DiffID() (v1.Hash, error)            { return l.hash, nil }
func (l *layer) Size() (int64, error)                { return l.size, nil }
func (l *layer) MediaType() (types.MediaType, error) { return types.OCIUncompressedLayer, nil }
func (l *layer) Compressed() (io.ReadCloser, error)  { return l.Uncompressed() }
func (l *layer) Uncompressed() (io.ReadCloser, error) {
	r, w := io.Pipe()
	go func() {
		if err := l.pack(w); err != nil {
			w.CloseWithError(fmt.Errorf("pack a layer: %w", err))
			return
		}
		w.Close()
	}()
	return r, nil
}

type counter struct{ n int64 }

func (c *counter) Write(p []byte) (int, error) {
	c.n += int64(len(p))
	return len(p), nil
}
