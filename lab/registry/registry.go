// Package registry knows the images that a Kubernetes version consists of, and the registry that nodes pull them from.
package registry

import (
	"context"
	"fmt"
	"path"

	"golang.org/x/sync/errgroup"

	"refit.dev/refit/lab/image"
	"refit.dev/refit/lab/parts"
)

// Port is where the registry listens, in its container.
const Port = 5000

// Data is the folder where it keeps the images.
const Data = "/var/lib/registry"

// Upstream is the registry that kubeadm's images are named after.
const Upstream = "registry.k8s.io"

// ConfigPath is where Config lies in its container.
const ConfigPath = "etc/distribution/config.yml"

// Config is the registry's configuration.
func Config() string {
	return fmt.Sprintf(`version: 0.1
log:
  level: warn
  accesslog:
    disabled: true
storage:
  filesystem:
    rootdirectory: %s
  delete:
    enabled: true
http:
  addr: :%d
`, Data, Port)
}

// Image is one image to publish.
type Image struct {
	// Name is the full name with a tag, e.g. registry.k8s.io/pause:3.10.
	Name   string
	recipe image.Recipe
}

// Sandbox is the name of the pause image of a release.
func Sandbox(r parts.Release) string { return Upstream + "/pause:" + r.Pause }

// Parts are the parts that the images of a release are made of.
func Parts(r parts.Release) []parts.Part {
	return []parts.Part{parts.Kubernetes(r.Kubernetes), parts.Etcd(r.Etcd), parts.CoreDNS(r.CoreDNS), parts.Pause(), parts.RootFS()}
}

// Images are what `kubeadm config images list` prints for a release, each with one static program in it.
func Images(store *parts.Store, r parts.Release) []Image {
	program := func(p parts.Part, names ...string) image.Recipe {
		var recipe image.Recipe
		for _, name := range names {
			recipe.Files = append(recipe.Files, image.File{Path: path.Join("usr/local/bin", name), Source: store.Path(p, name)})
		}
		return recipe
	}
	started := func(p parts.Part, name string) image.Recipe {
		return image.Recipe{Files: []image.File{{Path: name, Source: store.Path(p, name)}}, Entrypoint: []string{"/" + name}}
	}
	kubernetes := parts.Kubernetes(r.Kubernetes)
	var all []Image
	for _, name := range []string{"kube-apiserver", "kube-controller-manager", "kube-scheduler"} {
		all = append(all, Image{Name: Upstream + "/" + name + ":" + r.Kubernetes, recipe: program(kubernetes, name)})
	}
	proxy := program(kubernetes, "kube-proxy")
	proxy.Base = image.Subset(store.Path(parts.RootFS(), "rootfs.tar"), image.ForPacketFilter)
	return append(all,
		Image{Name: Upstream + "/kube-proxy:" + r.Kubernetes, recipe: proxy},
		Image{Name: Upstream + "/etcd:" + r.EtcdTag, recipe: program(parts.Etcd(r.Etcd), "etcd", "etcdctl", "etcdutl")},
		Image{Name: Upstream + "/coredns/coredns:" + r.CoreDNS, recipe: started(parts.CoreDNS(r.CoreDNS), "coredns")},
		Image{Name: Sandbox(r), recipe: started(parts.Pause(), "pause")})
}

// pushesAtOnce keeps both cores busy, and no more.
const pushesAtOnce = 2

// Push makes the images and uploads them to the registry at address (host:port).
func Push(ctx context.Context, address string, images []Image) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(pushesAtOnce)
	for _, i := range images {
		group.Go(func() error {
			built, err := image.Build(i.recipe)
			if err != nil {
				return fmt.Errorf("make the image %s: %w", i.Name, err)
			}
			_, err = image.Push(ctx, address, i.Name, built)
			return err
		})
	}
	return group.Wait()
}
