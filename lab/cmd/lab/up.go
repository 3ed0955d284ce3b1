package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"refit.dev/refit/lab"
)

func newUp(at *place) *cobra.Command {
	var o lab.Options
	c := &cobra.Command{Use: "up", Short: "Bring up a cluster", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			o.Name, o.Dir, o.Log = at.name, at.dir, c.ErrOrStderr()
			l, err := lab.Up(c.Context(), o)
			if err != nil {
				return err
			}
			fmt.Fprintf(c.OutOrStdout(), "kubeconfig: %s\nregistry:   %s\n", l.Kubeconfig(), l.RegistryAddress())
			return nil
		}}
	f := c.Flags()
	f.IntVar(&o.ControlPlanes, "control-planes", 1, "how many control planes")
	f.IntVar(&o.Workers, "workers", 2, "how many workers; without any, pods run on the control planes")
	f.StringVar(&o.Version, "version", lab.DefaultVersion, "the Kubernetes version")
	f.StringVar(&o.Containerd, "containerd", lab.DefaultContainerd, "the containerd version that hosts start with")
	f.StringSliceVar(&o.Publish, "publish", nil, "further Kubernetes versions whose images go to the registry")
	f.BoolVar(&o.Keep, "keep", false, "leave a cluster that did not come up, for a look at it")
	return c
}

func newDown(at *place) *cobra.Command {
	return &cobra.Command{Use: "down", Short: "Remove a cluster", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			found, err := lab.Down(c.Context(), at.name, at.dir)
			if err != nil {
				return err
			}
			if found {
				fmt.Fprintf(c.OutOrStdout(), "lab %s is gone\n", at.name)
			} else {
				fmt.Fprintf(c.OutOrStdout(), "there is no lab %s\n", at.name)
			}
			return nil
		}}
}
