package cli

import (
	"context"
	"fmt"
	"os"

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

// openBundle opens an image in a registry, or in an archive where there is a file of that name.
func openBundle(ctx context.Context, registry oci.Registry, source string) (img v1.Image, done func() error, err error) {
	if info, err := os.Stat(source); err == nil && info.Mode().IsRegular() {
		return oci.OpenArchive(source)
	}
	img, err = registry.Open(ctx, source)
	return img, func() error { return nil }, err
}

// pushImage brings an image to a registry, and shows how far it is.
func (a *app) pushImage(ctx context.Context, registry oci.Registry, img v1.Image, ref string) (string, error) {
	bar := print.NewProgress(a.ErrOut, a.clock, a.interactive(), "push")
	byDigest, err := registry.Push(ctx, img, ref, bar.Bytes)
	bar.End()
	if err != nil {
		return "", err
	}
	return byDigest, nil
}

func insecureFlag(cmd *cobra.Command, registry *oci.Registry) {
	cmd.Flags().BoolVar(&registry.Insecure, "insecure", false, "reach the registry by plain HTTP, or without checking its certificate")
}

func newManagerImage(a *app) *cobra.Command {
	var registry oci.Registry
	var binary, ref, name string
	cmd := &cobra.Command{
		Use:     "manager-image",
		Short:   "Build the image of one program, such as the manager, and push it",
		Example: `  refit bundle manager-image --binary bin/refit-manager --push registry.site/refit/manager:v1.0.0`,
		Hidden:  true,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, cancel := a.bounded(cmd, carryTimeout)
			defer cancel()
			img, err := oci.ProgramImage(binary, name, "")
			if err != nil {
				return err
			}
			byDigest, err := a.pushImage(ctx, registry, img, ref)
			if err != nil {
				return err
			}
			a.say("%s", byDigest)
			return nil
		},
	}
	cmd.Flags().StringVar(&binary, "binary", "", "the program, statically linked")
	cmd.Flags().StringVar(&name, "name", "refit-manager", "the program's name in the image")
	cmd.Flags().StringVar(&ref, "push", "", "image name to push to")
	insecureFlag(cmd, &registry)
	require(cmd, "binary", "push")
	return cmd
}

// require marks flags without which a command cannot run.
func require(cmd *cobra.Command, flags ...string) {
	check := cmd.Args
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		for _, name := range flags {
			if !cmd.Flags().Changed(name) {
				return fmt.Errorf("--%s is missing", name)
			}
		}
		return check(cmd, args)
	}
}
