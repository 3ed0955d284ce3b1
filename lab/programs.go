package lab

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"refit.dev/refit/lab/image"
	"refit.dev/refit/lab/parts"
)

// WebApp is the name of the image of the web application that demos and tests run.
const WebApp = "refit.dev/webapp:v1"

// WebAppManifest runs it: two replicas, a PodDisruptionBudget that lets one go, and a service on the node port behind
// Lab.ApplicationAddress.
//
//go:embed webapp.yaml
var WebAppManifest string

// PublishWebApp builds the web application and pushes its image.
func (l *Lab) PublishWebApp(ctx context.Context, log io.Writer) error {
	store, err := parts.OpenStore()
	if err != nil {
		return err
	}
	if err := store.Build(ctx, log, parts.WebApp()); err != nil {
		return fmt.Errorf("build the web application: %w", err)
	}
	_, err = l.PushPrograms(ctx, WebApp, store.Path(parts.WebApp(), "webapp"))
	return err
}

// Curl is the image that hooks in the documentation use.
const Curl = "docker.io/curlimages/curl:8.1.2"

// PublishCurl makes the image Curl available: Debian's curl under the name of the public image.
func (l *Lab) PublishCurl(ctx context.Context, log io.Writer) error {
	store, err := parts.OpenStore()
	if err != nil {
		return err
	}
	if err := store.Build(ctx, log, parts.RootFS()); err != nil {
		return fmt.Errorf("build the root file system: %w", err)
	}
	img, err := image.Build(image.Recipe{Base: image.Subset(store.Path(parts.RootFS(), "rootfs.tar"), image.ForCurl), Entrypoint: []string{"/usr/bin/curl"}})
	if err != nil {
		return fmt.Errorf("make the image %s: %w", Curl, err)
	}
	_, err = l.PushImage(ctx, Curl, img)
	return err
}

// PushPrograms makes an image of static programs, of which the first is the entry point, pushes it as ref, and returns
// ref by digest.
func (l *Lab) PushPrograms(ctx context.Context, ref string, programs ...string) (string, error) {
	if len(programs) == 0 {
		return "", errors.New("an image needs at least one program")
	}
	recipe := image.Recipe{Entrypoint: []string{"/" + filepath.Base(programs[0])}}
	for _, p := range programs {
		recipe.Files = append(recipe.Files, image.File{Path: filepath.Base(p), Source: p})
	}
	img, err := image.Build(recipe)
	if err != nil {
		return "", fmt.Errorf("make the image %s: %w", ref, err)
	}
	return l.PushImage(ctx, ref, img)
}
