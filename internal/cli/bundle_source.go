package cli

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"

	"refit.dev/refit/internal/bundle"
	"refit.dev/refit/internal/bundle/oci"
)

// bundleSource wants a bundle.
var bundleSource = one("IMAGE or FILE", "name an image in a registry as REGISTRY/REPOSITORY:TAG, or an archive that `refit bundle build --output FILE` wrote")

// openBundle opens an image in a registry, or in an archive where there is a file of that name.
func openBundle(ctx context.Context, registry oci.Registry, source string) (img v1.Image, done func() error, err error) {
	info, err := os.Stat(source)
	switch {
	case err == nil && info.IsDir():
		return nil, nil, fmt.Errorf("%s is a folder: name the archive that `refit bundle build --output FILE` wrote, or an image in a registry", source)
	case err == nil:
		img, done, err = oci.OpenArchive(source)
		if err != nil {
			return nil, nil, fmt.Errorf("read file %s as a bundle's archive: %w\n`refit bundle build --output FILE` writes one; was it copied whole?", source, err)
		}
		return img, done, nil
	case looksLikeFile(source) && !errors.Is(err, fs.ErrNotExist):
		return nil, nil, fmt.Errorf("read file %s: %w", source, err)
	case looksLikeFile(source):
		return nil, nil, fmt.Errorf("there is no file %s%s: name an archive that `refit bundle build --output FILE` wrote, or an image in a registry as REGISTRY/REPOSITORY:TAG", source, lookedIn(source))
	}
	img, err = registry.Open(ctx, source)
	return img, func() error { return nil }, ofRegistry(err, source)
}

// looksLikeFile says whether a name can only have been meant as that of a file: no registry is called so.
func looksLikeFile(source string) bool {
	for _, prefix := range []string{"/", "./", "../", "~"} {
		if strings.HasPrefix(source, prefix) {
			return true
		}
	}
	switch filepath.Ext(source) {
	case ".tar", ".tgz", ".gz", ".zst", ".xz":
		return true
	}
	return false
}

func lookedIn(source string) string {
	if filepath.IsAbs(source) {
		return ""
	}
	dir, err := os.Getwd()
	if err != nil {
		return ""
	}
	return " in " + dir
}

// inspect checks a bundle against its checksums. Of an image in a registry the layers are read only now.
func inspect(img v1.Image, source, doing string) (bundle.Manifest, v1.Hash, error) {
	m, err := oci.Inspect(img)
	if err != nil {
		return m, v1.Hash{}, ofRegistry(fmt.Errorf("%s %s: %w", doing, source, err), source)
	}
	digest, err := img.Digest()
	if err != nil {
		return m, v1.Hash{}, ofRegistry(fmt.Errorf("work out the digest of %s: %w", source, err), source)
	}
	return m, digest, nil
}

// ofRegistry says, of an error on the way to a registry, which one was tried and what to do. Others it leaves as they are:
// what a registry itself refuses is explained where it is asked.
func ofRegistry(err error, ref string) error {
	if !onTheWay(err) && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	host := ref
	parsed, nameErr := name.ParseReference(ref)
	if nameErr == nil {
		host = parsed.Context().RegistryStr()
	}
	told := &toldError{err: fmt.Errorf("registry %s cannot be reached: %w", host, err), remedy: "Check the registry's name, and that this machine reaches it"}
	var untrusted *tls.CertificateVerificationError
	switch {
	case errors.As(err, &untrusted): // what to do is in err
		return &toldError{err: err}
	case errors.Is(err, http.ErrSchemeMismatch):
		told.remedy = "It speaks plain HTTP: pass --insecure if that is meant"
	case errors.Is(err, context.DeadlineExceeded):
		told.remedy += "; --timeout allows more time"
	case nameErr == nil && !strings.HasPrefix(ref, host):
		told.remedy = fmt.Sprintf("%s names no registry, so %s was tried: name an image as REGISTRY/REPOSITORY:TAG, or a file that there is", ref, host)
	}
	return told
}
