package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/cli/print"
	"refit.dev/refit/internal/version"
)

func newBundleList(a *app) *cobra.Command {
	var output print.Format
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the bundles that were imported",
		Example: `  refit bundle list -o wide`,
		Args:    none,
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.bundleList(cmd, output) },
	}
	outputFlag(cmd, &output)
	return cmd
}

func (a *app) bundleList(cmd *cobra.Command, output print.Format) error {
	ctx, cancel := a.bounded(cmd, defaultTimeout)
	defer cancel()
	c, err := a.connect()
	if err != nil {
		return err
	}
	var list v1alpha1.KubernetesVersionList
	if err := c.List(ctx, &list); err != nil {
		return fmt.Errorf("list Kubernetes versions: %w", err)
	}
	slices.SortFunc(list.Items, func(x, y v1alpha1.KubernetesVersion) int { return version.Compare(x.Spec.Version, y.Spec.Version) })
	if output.Machine() {
		return output.Value(a.Out, listOf(list.Items))
	}
	t := print.Table{Columns: []print.Column{{Name: "VERSION"}, {Name: "FROM"}, {Name: "CONTAINERD"}, {Name: "ETCD"}, {Name: "IMAGE"},
		{Name: "RUNC", Wide: true}, {Name: "CNI-PLUGINS", Wide: true}, {Name: "COREDNS", Wide: true}, {Name: "PAUSE", Wide: true}, {Name: "DOWNGRADE-TO", Wide: true}}}
	for i := range list.Items {
		v := &list.Items[i]
		t.Rows = append(t.Rows, []string{v.Spec.Version, strings.Join(v.Spec.UpgradeFrom, ","),
			v.Component("containerd"), v.Component("etcd"), shortDigest(v.Spec.Image),
			v.Component("runc"), v.Component("cni-plugins"), v.Component("coredns"), v.Component("pause"), strings.Join(v.Spec.DowngradeTo, ",")})
	}
	return t.Write(a.Out, output == print.Wide)
}

// shortDigest keeps as much of a digest as people compare.
func shortDigest(image string) string {
	repository, digest, found := strings.Cut(image, "@sha256:")
	if !found || len(digest) < 12 {
		return image
	}
	return repository + "@sha256:" + digest[:12]
}
