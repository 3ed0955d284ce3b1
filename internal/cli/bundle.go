package cli

import (
	"context"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/spf13/cobra"

	"refit.dev/refit/internal/bundle/oci"
	"refit.dev/refit/internal/cli/print"
)

func newBundle(a *app) *cobra.Command {
	cmd := parent("bundle", "Build, carry and import the images that hold a Kubernetes version",
		newBundleBuild(a), newBundleImport(a), newBundleList(a), newBundleShow(a), newManagerImage(a))
	cmd.Long = `A bundle is the image of one Kubernetes version: kubeadm, kubelet, kubectl, the container runtime, the CNI plugins, the
etcd tools, and a manifest with their checksums. Nodes pull it from a registry; nothing else is needed on an air-gapped
site. Importing a bundle makes its version known to the cluster.`
	cmd.Example = `  refit bundle build --version v1.36.3 --from ./v1.36.3 --refit-node bin/refit-node --push registry.site/refit/bundle:v1.36.3
  refit bundle import registry.site/refit/bundle:v1.36.3
  refit bundle list`
	return cmd
}

// pushImage brings an image to a registry, and shows how far it is.
func (a *app) pushImage(ctx context.Context, registry oci.Registry, img v1.Image, ref string) (string, error) {
	bar := print.NewProgress(a.ErrOut, a.clock, a.interactive(), "push")
	byDigest, err := registry.Push(ctx, img, ref, bar.Bytes)
	bar.End()
	return byDigest, ofRegistry(err, ref)
}

func insecureFlag(cmd *cobra.Command, registry *oci.Registry) {
	cmd.Flags().BoolVar(&registry.Insecure, "insecure", false, "reach the registry by plain HTTP, or without checking its certificate")
}
