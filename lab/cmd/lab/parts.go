package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"refit.dev/refit/lab"
	"refit.dev/refit/lab/parts"
)

// wanted says which parts to build.
type wanted struct {
	envtest, prometheus, demo bool
	versions                  []string
	bundle                    string
	mirror                    string
}

func newParts() *cobra.Command {
	var w wanted
	c := &cobra.Command{Use: "parts", Short: "Build or download what clusters are made of, once, into the user's cache folder",
		Long: "Builds what is not in the cache yet. Kubernetes' own programs are downloaded where the mirror can be reached,\n" +
			"and compared with the checksums published there; else they are built from source.",
		Example: "  lab parts --demo\n  KUBEBUILDER_ASSETS=$(lab parts --envtest) go test ./...\n  lab parts --version v1.36.1 --mirror https://mirror.example.com/k8s",
		Args:    cobra.NoArgs, RunE: func(c *cobra.Command, _ []string) error { return w.run(c) }}
	f := c.Flags()
	f.BoolVar(&w.envtest, "envtest", false, "kube-apiserver, etcd and kubectl for controller tests; prints their folder")
	f.BoolVar(&w.prometheus, "prometheus", false, "prometheus for tests of health checks; prints its folder")
	f.BoolVar(&w.demo, "demo", false, "what the demo needs: a cluster at "+lab.DefaultVersion+" and the way to "+lab.DemoTarget)
	f.StringSliceVar(&w.versions, "version", nil, "what clusters of these Kubernetes versions need")
	f.StringVar(&w.bundle, "bundle", "", "what the bundle of this Kubernetes version needs")
	f.StringVar(&w.mirror, "mirror", "", "where to download from, laid out as "+parts.OfficialMirror+" (the default; REFIT_MIRROR "+
		"sets it for every command); "+parts.NoMirror+" builds everything")
	return c
}

func (w wanted) run(c *cobra.Command) error {
	if !w.envtest && !w.prometheus && !w.demo && len(w.versions) == 0 && w.bundle == "" {
		return errors.New("say which parts: --envtest, --prometheus, --demo, --version or --bundle")
	}
	store, err := parts.OpenStore()
	if err != nil {
		return err
	}
	if w.mirror != "" {
		if err := store.UseMirror(w.mirror); err != nil {
			return err
		}
	}
	all, err := w.list()
	if err != nil {
		return err
	}
	if err := store.Build(c.Context(), c.ErrOrStderr(), all...); err != nil {
		return err
	}
	if w.envtest {
		dir, err := store.Envtest(c.Context(), c.ErrOrStderr(), parts.EnvtestVersion)
		if err != nil {
			return err
		}
		fmt.Fprintln(c.OutOrStdout(), dir)
	}
	if w.prometheus {
		fmt.Fprintln(c.OutOrStdout(), store.Dir(parts.Prometheus()))
	}
	return nil
}

// list is every part but those of the controller tests.
func (w wanted) list() ([]parts.Part, error) {
	var all []parts.Part
	versions := w.versions
	if w.prometheus {
		all = append(all, parts.Prometheus())
	}
	if w.demo {
		all = append(all, lab.DemoParts()...)
	}
	for _, v := range versions {
		some, err := lab.ClusterParts(lab.Options{Version: v})
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	if w.bundle != "" {
		release, err := parts.ReleaseOf(w.bundle)
		if err != nil {
			return nil, fmt.Errorf("--bundle: %w", err)
		}
		all = append(all, parts.Bundle(release)...)
	}
	return all, nil
}
