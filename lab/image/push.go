package image

import (
	"context"
	"fmt"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// pushDeadline bounds the push of one image.
const pushDeadline = 5 * time.Minute

// Push uploads img to the registry at address (host:port, plain http) under the path and tag of ref, whatever registry
// ref names: registry.k8s.io/pause:3.10 lands at address/pause:3.10. It returns ref by digest.
func Push(ctx context.Context, address, ref string, img v1.Image) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, pushDeadline)
	defer cancel()
	wanted, err := name.NewTag(ref)
	if err != nil {
		return "", fmt.Errorf("read the image name %q: %w", ref, err)
	}
	target, err := name.NewTag(address+"/"+wanted.RepositoryStr()+":"+wanted.TagStr(), name.Insecure)
	if err != nil {
		return "", fmt.Errorf("name %s in the lab's registry: %w", ref, err)
	}
	if err := remote.Write(target, img, remote.WithContext(ctx)); err != nil {
		return "", fmt.Errorf("push %s to the lab's registry at %s (is it running? lab status): %w", ref, address, err)
	}
	digest, err := img.Digest()
	if err != nil {
		return "", fmt.Errorf("work out the digest of %s: %w", ref, err)
	}
	return wanted.Repository.Name() + "@" + digest.String(), nil
}
