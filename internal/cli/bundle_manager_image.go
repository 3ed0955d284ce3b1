package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"refit.dev/refit/internal/bundle/oci"
)

type imageFlags struct {
	registry          oci.Registry
	binary, ref, name string
}

func newManagerImage(a *app) *cobra.Command {
	var f imageFlags
	cmd := &cobra.Command{
		Use:   "manager-image",
		Short: "Build the manager's image from its program, and push it",
		Long: `Build the image of the manager from its program, which 'make build' leaves in bin/refit-manager, and push it. No
container runtime is needed. The same program gives the same image, to the byte. Its name by digest is printed; give
that, or the name that it was pushed to, to 'refit install --image'.`,
		Example: `  refit bundle manager-image --binary bin/refit-manager --push registry.site/refit/manager:v1.0.0
  refit install --image registry.site/refit/manager:v1.0.0`,
		Args: none,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.managerImage(cmd, f) },
	}
	cmd.Flags().StringVar(&f.binary, "binary", "", "the program, statically linked")
	cmd.Flags().StringVar(&f.name, "name", "refit-manager", "the program's name in the image")
	cmd.Flags().StringVar(&f.ref, "push", "", "image name to push to")
	insecureFlag(cmd, &f.registry)
	require(cmd, "binary", "push")
	return cmd
}

func (a *app) managerImage(cmd *cobra.Command, f imageFlags) error {
	ctx, cancel := a.bounded(cmd, carryTimeout)
	defer cancel()
	img, err := oci.ProgramImage(f.binary, f.name, "")
	if err != nil {
		return fmt.Errorf("read the program --binary %s: %w", f.binary, err)
	}
	byDigest, err := a.pushImage(ctx, f.registry, img, f.ref)
	if err != nil {
		return err
	}
	a.say("%s", byDigest)
	return nil
}
