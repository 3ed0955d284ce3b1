package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"refit.dev/refit/internal/buildinfo"
	"refit.dev/refit/internal/cli/print"
	"refit.dev/refit/internal/install"
)

// installTimeout bounds an installation, its images' pulling included.
const installTimeout = 5 * time.Minute

type installFlags struct {
	install.Options
	dryRun, wait bool
	output       string
}

func newInstall(a *app) *cobra.Command {
	var f installFlags
	cmd := &cobra.Command{
		Use:   "install",
		Short: "Bring Refit into the cluster, or bring it up to date",
		Long: `Bring Refit into the cluster: its kinds, its namespace refit-system, its rights and its manager. The same manifests are
the Helm chart charts/refit. Running it again brings an installation up to date. Before anything is changed it is
checked that the cluster is kubeadm's and that you have the rights.`,
		Example: `  refit install
  refit install --image registry.site/refit/manager:v1.0.0
  refit install --dry-run
  refit install -o yaml > refit.yaml`,
		Args: none,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.install(cmd, f) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.Image, "image", "refit.dev/manager:"+buildinfo.Version, "the manager's image")
	flags.IntVar(&f.Replicas, "replicas", 2, "how many managers run; one leads, the others take over")
	flags.BoolVar(&f.dryRun, "dry-run", false, "check, and say what would be done, without changing anything")
	flags.BoolVar(&f.wait, "wait", true, "wait until the manager is ready")
	flags.StringVarP(&f.output, "output", "o", "", "yaml: print the manifests and do nothing else")
	return cmd
}

func (a *app) install(cmd *cobra.Command, f installFlags) error {
	if f.output != "" && f.output != string(print.YAML) {
		return usageError(fmt.Errorf("-o %s: only yaml is known here", f.output))
	}
	objects, err := install.Render(f.Options)
	if err != nil {
		return usageError(err)
	}
	if f.output != "" {
		data, err := install.YAML(objects)
		if err != nil {
			return err
		}
		_, err = a.Out.Write(data)
		return err
	}
	ctx, cancel := a.bounded(cmd, installTimeout)
	defer cancel()
	c, err := a.connect()
	if err != nil {
		return err
	}
	if err := install.Check(ctx, c, objects, "get", "create", "patch"); err != nil {
		return err
	}
	if err := install.CheckGrants(ctx, c, objects); err != nil {
		return err
	}
	if f.dryRun {
		return a.previewInstall(ctx, c, objects)
	}
	if err := install.Apply(ctx, c, objects, func(name string) { a.say("%s", name) }); err != nil {
		return err
	}
	if !f.wait {
		return nil
	}
	start := a.clock.Now()
	said := func(text string) { a.say("%s (%s)", text, print.Duration(a.clock.Since(start))) }
	if err := install.Ready(ctx, c, said); err != nil {
		return err
	}
	a.say("Refit is installed. Make a Kubernetes version known with `refit bundle import IMAGE`.")
	return nil
}

func (a *app) previewInstall(ctx context.Context, c client.Client, objects []*unstructured.Unstructured) error {
	changes, err := install.Preview(ctx, c, objects)
	if err != nil {
		return err
	}
	for _, change := range changes {
		what := "would create"
		if change.Exists {
			what = "would bring up to date"
		}
		a.say("%s %s", what, change.Object)
	}
	return nil
}
