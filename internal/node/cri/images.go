package cri

import (
	"context"
	"fmt"

	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// HasImage says whether the runtime has an image.
func (c *Client) HasImage(ctx context.Context, image string) (bool, error) {
	s, err := c.images.ImageStatus(ctx, &runtime.ImageStatusRequest{Image: &runtime.ImageSpec{Image: image}})
	if err != nil {
		return false, fmt.Errorf("ask the container runtime for image %s: %w", image, err)
	}
	return s.GetImage() != nil, nil
}

// Pull fetches an image.
func (c *Client) Pull(ctx context.Context, image string) error {
	_, err := c.images.PullImage(ctx, &runtime.PullImageRequest{Image: &runtime.ImageSpec{Image: image}})
	if err != nil {
		return fmt.Errorf("pull image %s: %w", image, err)
	}
	return nil
}
