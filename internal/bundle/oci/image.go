package oci

import (
	"fmt"
	"runtime"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// ProgramImage makes an image of one static program, which is its entry point and runs as an unprivileged user. The
// manager's image is one.
func ProgramImage(program, name, version string) (v1.Image, error) {
	layer, err := newLayer([]entry{{path: name, source: program, mode: 0o755}})
	if err != nil {
		return nil, err
	}
	img, err := newImage([]v1.Layer{layer}, "/"+name, map[string]string{
		"org.opencontainers.image.title":   name,
		"org.opencontainers.image.version": version,
	})
	if err != nil {
		return nil, err
	}
	return configure(img, func(c *v1.ConfigFile) { c.Config.User = "65532:65532" })
}

func newImage(layers []v1.Layer, entryPoint string, labels map[string]string) (v1.Image, error) {
	base := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	img, err := mutate.AppendLayers(base, layers...)
	if err != nil {
		return nil, fmt.Errorf("make the image: %w", err)
	}
	return configure(img, func(c *v1.ConfigFile) {
		c.OS, c.Architecture = "linux", runtime.GOARCH
		c.Created = v1.Time{Time: epoch}
		c.Config.Entrypoint = []string{entryPoint}
		c.Config.Labels = labels
		c.Config.WorkingDir = "/"
	})
}

func configure(img v1.Image, change func(*v1.ConfigFile)) (v1.Image, error) {
	config, err := img.ConfigFile()
	if err != nil {
		return nil, fmt.Errorf("make the image's configuration: %w", err)
	}
	config = config.DeepCopy()
	change(config)
	img, err = mutate.ConfigFile(img, config)
	if err != nil {
		return nil, fmt.Errorf("make the image's configuration: %w", err)
	}
	return img, nil
}
