package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"refit.dev/refit/lab"
)

func newPublish(at *place) *cobra.Command {
	var webApp bool
	c := &cobra.Command{Use: "publish [VERSION...]", Short: "Push the images of Kubernetes versions to the lab's registry",
		Example: "  lab publish v1.36.3 --webapp",
		RunE: func(c *cobra.Command, versions []string) error {
			if len(versions) == 0 && !webApp {
				return fmt.Errorf("name a Kubernetes version, such as v1.36.3, or give --webapp")
			}
			l, err := at.open(c.Context())
			if err != nil {
				return err
			}
			for _, v := range versions {
				if err := l.Publish(c.Context(), v, c.ErrOrStderr()); err != nil {
					return err
				}
			}
			if !webApp {
				return nil
			}
			return l.PublishWebApp(c.Context(), c.ErrOrStderr())
		}}
	c.Flags().BoolVar(&webApp, "webapp", false, "push the web application of the demo, too, as "+lab.WebApp)
	return c
}

func newBundle(at *place) *cobra.Command {
	var o lab.BundleOptions
	c := &cobra.Command{Use: "bundle VERSION... [-- FLAG...]", Short: "Build bundles with refit bundle build and push them to the lab's registry",
		Long: "Collects the programs of each version and calls the product's own refit bundle build with them.\n" +
			"Flags after -- are handed on to it.",
		RunE: func(c *cobra.Command, args []string) error {
			versions := args
			if at := c.ArgsLenAtDash(); at >= 0 {
				versions, o.Args = args[:at], args[at:]
			}
			if len(versions) == 0 {
				return fmt.Errorf("name a Kubernetes version, such as v1.36.3")
			}
			l, err := at.open(c.Context())
			if err != nil {
				return err
			}
			o.Log = c.ErrOrStderr()
			for _, v := range versions {
				if err := l.PublishBundle(c.Context(), v, o); err != nil {
					return err
				}
			}
			return nil
		}}
	c.Flags().StringVar(&o.Programs, "programs", "", "the folder of refit and refit-node (default bin in the source tree)")
	return c
}

func newPush(at *place) *cobra.Command {
	return &cobra.Command{Use: "push NAME PROGRAM...", Short: "Push an image of static programs, of which the first is the entry point",
		Example: "  lab push refit.dev/manager:v0.1.0 bin/refit-manager", Args: cobra.MinimumNArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			l, err := at.open(c.Context())
			if err != nil {
				return err
			}
			digest, err := l.PushPrograms(c.Context(), args[0], args[1:]...)
			if err != nil {
				return err
			}
			fmt.Fprintln(c.OutOrStdout(), digest)
			return nil
		}}
}
