package image

import (
	"fmt"
	"io"
	"runtime"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// Recipe is what an image is made of.
type Recipe struct {
	// Base writes the archive of a layer below the files; nil means none.
	Base func(io.Writer) error
	// Files are in the image's last layer.
	Files []File
	// Entrypoint is the program that runs; empty where whoever runs the image names it.
	Entrypoint []string
}

// searchPath is where the image's programs are looked for.
const searchPath = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// Build makes the image.
func Build(r Recipe) (v1.Image, error) {
	var layers []v1.Layer
	packs := []func(io.Writer) error{packFiles(r.Files)}
	if r.Base != nil {
		packs = append([]func(io.Writer) error{r.Base}, packs...)
	}
	for _, pack := range packs {
		l, err := newLayer(pack)
		if err != nil {
			return nil, fmt.Errorf("pack an image's layer: %w", err)
		}
		layers = append(layers, l)
	}
	img := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	img, err := mutate.AppendLayers(img, layers...)
	if err != nil {
		return nil, fmt.Errorf("put an image's layers together: %w", err)
	}
	img, err = mutate.ConfigFile(img, configOf(img, r))
	if err != nil {
		return nil, fmt.Errorf("write an image's configuration: %w", err)
	}
	return img, nil
}

func configOf(img v1.Image, r Recipe) *v1.ConfigFile {
	config := &v1.ConfigFile{Created: v1.Time{Time: time.Unix(0, 0).UTC()}, Architecture: runtime.GOARCH, OS: "linux"}
	if old, err := img.ConfigFile(); err == nil {
		config.RootFS = old.RootFS
	}
	config.Config = v1.Config{Env: []string{searchPath}, Entrypoint: r.Entrypoint}
	return config
}
