package lab

import (
	"context"
	"fmt"
	"io"

	"k8s.io/utils/clock"

	"refit.dev/refit/lab/parts"
	"refit.dev/refit/lab/registry"
	"refit.dev/refit/lab/timeline"
)

// Publish makes the images of a Kubernetes version available to the nodes, building what is missing.
func (l *Lab) Publish(ctx context.Context, version string, log io.Writer) error {
	if err := checkVersion("--version", version); err != nil {
		return err
	}
	store, err := parts.OpenStore()
	if err != nil {
		return err
	}
	if err := store.Build(ctx, log, imageParts([]string{version})...); err != nil {
		return fmt.Errorf("build the parts of %s: %w", version, err)
	}
	t := timeline.New(log, clock.RealClock{}, costPush)
	defer t.Close()
	return publishVersion(ctx, t, store, l.RegistryAddress(), version)
}

func publishVersion(ctx context.Context, t *timeline.Timeline, store *parts.Store, at, version string) error {
	release, err := parts.ReleaseOf(version)
	if err != nil {
		return err
	}
	return t.Do("publishing the images of "+version, costPush, func() error {
		return registry.Push(ctx, at, registry.Images(store, release))
	})
}

// publish starts the registry and fills it: first with what the cluster is made of, which closes done, then the rest.
func (b *bringUp) publish(ctx context.Context, done chan<- struct{}) error {
	if err := b.startRegistry(ctx); err != nil {
		return err
	}
	if err := publishVersion(ctx, b.time, b.store, b.lab.RegistryAddress(), b.Version); err != nil {
		return err
	}
	close(done)
	for _, v := range b.Publish {
		if err := publishVersion(ctx, b.time, b.store, b.lab.RegistryAddress(), v); err != nil {
			return err
		}
	}
	return nil
}
