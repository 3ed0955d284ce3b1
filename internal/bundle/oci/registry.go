package oci

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"
)

// Registry is how a registry is reached.
type Registry struct {
	// Insecure allows plain HTTP and certificates that nobody signed.
	Insecure bool
}

// Push brings an image to a registry and gives its name by digest. Progress, where it is not nil, is told how many bytes
// of how many are there.
func (r Registry) Push(ctx context.Context, img v1.Image, ref string, progress func(done, total int64)) (string, error) {
	tag, err := name.ParseReference(ref, r.nameOptions()...)
	if err != nil {
		return "", fmt.Errorf("read image name %q: %w", ref, err)
	}
	updates := make(chan v1.Update, 100)
	shown := make(chan struct{})
	go func() {
		defer close(shown)
		for u := range updates {
			if progress != nil && u.Error == nil {
				progress(u.Complete, u.Total)
			}
		}
	}()
	err = remote.Write(tag, img, append(r.remoteOptions(ctx), remote.WithProgress(updates))...) // closes updates
	<-shown
	if err != nil {
		return "", explain(err, "push "+ref, r.Insecure)
	}
	digest, err := img.Digest()
	if err != nil {
		return "", fmt.Errorf("work out the digest of %s: %w", ref, err)
	}
	return tag.Context().Name() + "@" + digest.String(), nil
}

// Open finds an image in a registry. Its layers are fetched when they are read.
func (r Registry) Open(ctx context.Context, ref string) (v1.Image, error) {
	parsed, err := name.ParseReference(ref, r.nameOptions()...)
	if err != nil {
		return nil, fmt.Errorf("read image name %q: %w", ref, err)
	}
	img, err := remote.Image(parsed, r.remoteOptions(ctx)...)
	if err != nil {
		return nil, explain(err, "read "+ref, r.Insecure)
	}
	return img, nil
}

func (r Registry) nameOptions() []name.Option {
	if r.Insecure {
		return []name.Option{name.Insecure}
	}
	return nil
}

func (r Registry) remoteOptions(ctx context.Context) []remote.Option {
	options := []remote.Option{
		remote.WithContext(ctx),
		remote.WithAuthFromKeychain(authn.DefaultKeychain),
		remote.WithUserAgent("refit"),
	}
	if base, ok := remote.DefaultTransport.(*http.Transport); ok {
		t := base.Clone()
		t.ResponseHeaderTimeout = time.Minute
		if r.Insecure {
			t.TLSClientConfig = &tls.Config{InsecureSkipVerify: true} // --insecure asks for it
		}
		options = append(options, remote.WithTransport(t))
	}
	return options
}

// explain adds what to do to a registry's refusal.
func explain(err error, doing string, insecure bool) error {
	var refused *transport.Error
	if errors.As(err, &refused) {
		switch refused.StatusCode {
		case http.StatusUnauthorized, http.StatusForbidden:
			return fmt.Errorf("%s: the registry refuses: log in to it first (docker login, or the same with podman or skopeo): %w", doing, err)
		case http.StatusNotFound:
			return fmt.Errorf("%s: the registry has no such image: check the name, or push it with `refit bundle build --push`: %w", doing, err)
		}
	}
	var wrong *tls.CertificateVerificationError
	if errors.As(err, &wrong) && !insecure {
		return fmt.Errorf("%s: the registry's certificate is not trusted: add its CA to this machine, or pass --insecure: %w", doing, err)
	}
	var plain tls.RecordHeaderError
	if errors.As(err, &plain) && !insecure {
		return fmt.Errorf("%s: the registry speaks plain HTTP: pass --insecure if that is meant: %w", doing, err)
	}
	return fmt.Errorf("%s: %w", doing, err)
}
