package bed

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"

	"refit.dev/refit/lab"
)

// bundleRepository is what nodes call the repository of bundles.
const bundleRepository = "refit.dev/bundle"

// publishDeadline bounds the making of one bundle.
const publishDeadline = 5 * time.Minute

// PublishWith publishes, under another tag, the bundle of a version in which a program (such as "bin/kubelet") is replaced by
// another, with the right checksum: what a person could build by mistake.
func (b *Bed) PublishWith(ctx context.Context, version, tag, program, content string) (err error) {
	ctx, cancel := context.WithTimeout(ctx, publishDeadline)
	defer cancel()
	dir, err := os.MkdirTemp("", "refit-bundle-*")
	if err != nil {
		return fmt.Errorf("make a folder for the bundle: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := lab.CollectBundle(ctx, version, dir, b.log); err != nil {
		return err
	}
	target := filepath.Join(dir, filepath.FromSlash(program))
	// Removed first: what is collected may be a link into the cache.
	if err := errors.Join(os.Remove(target), os.WriteFile(target, []byte(content), 0o755)); err != nil {
		return fmt.Errorf("replace %s: %w", program, err)
	}
	return b.logged(ctx, "bundle", "build", "--version", version, "--from", dir, "--refit-node", b.Program("refit-node"),
		"--push", b.Lab.RegistryAddress()+"/bundle:"+tag, "--insecure")
}

// PublishFlipped publishes, under another tag, the published bundle of a version with one byte of a program flipped, and
// returns its name by digest, as nodes call it.
func (b *Bed) PublishFlipped(ctx context.Context, version, tag, program string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, publishDeadline)
	defer cancel()
	ref, err := name.ParseReference(b.Lab.RegistryAddress()+"/bundle:"+version, name.Insecure)
	if err != nil {
		return "", err
	}
	img, err := remote.Image(ref, remote.WithContext(ctx))
	if err != nil {
		return "", fmt.Errorf("read the bundle of %s: %w", version, err)
	}
	path := "bundle/" + program
	content, err := readFile(img, path)
	if err != nil {
		return "", err
	}
	content[len(content)/2] ^= 1
	layer, err := layerOf(path, content)
	if err != nil {
		return "", err
	}
	flipped, err := mutate.AppendLayers(img, layer)
	if err != nil {
		return "", fmt.Errorf("put the damaged %s into the bundle: %w", program, err)
	}
	if _, err := b.Lab.PushImage(ctx, bundleRepository+":"+tag, flipped); err != nil {
		return "", err
	}
	digest, err := flipped.Digest()
	return bundleRepository + "@" + digest.String(), err
}

func readFile(img v1.Image, path string) ([]byte, error) {
	content := mutate.Extract(img)
	defer content.Close()
	for r := tar.NewReader(content); ; {
		header, err := r.Next()
		if err != nil {
			return nil, fmt.Errorf("find %s in the bundle: %w", path, err)
		}
		if header.Name == path {
			return io.ReadAll(r)
		}
	}
}

func layerOf(path string, content []byte) (v1.Layer, error) {
	var text bytes.Buffer
	w := tar.NewWriter(&text)
	err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: path, Mode: 0o755, Size: int64(len(content))})
	if err == nil {
		_, err = w.Write(content)
	}
	if err := errors.Join(err, w.Close()); err != nil {
		return nil, fmt.Errorf("pack %s: %w", path, err)
	}
	return tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text.Bytes())), nil })
}
