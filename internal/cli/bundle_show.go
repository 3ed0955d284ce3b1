package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"refit.dev/refit/internal/bundle"
	"refit.dev/refit/internal/bundle/oci"
	"refit.dev/refit/internal/cli/print"
)

func newBundleShow(a *app) *cobra.Command {
	var registry oci.Registry
	var output print.Format
	cmd := &cobra.Command{
		Use:   "show IMAGE|FILE",
		Short: "Show what a bundle holds, and check it",
		Example: `  refit bundle show registry.site/refit/bundle:v1.36.3
  refit bundle show v1.36.3.tar -o json`,
		Args: bundleSource,
		RunE: func(cmd *cobra.Command, args []string) error { return a.bundleShow(cmd, args[0], registry, output) },
	}
	insecureFlag(cmd, &registry)
	outputFlag(cmd, &output)
	return cmd
}

func (a *app) bundleShow(cmd *cobra.Command, source string, registry oci.Registry, output print.Format) (err error) {
	ctx, cancel := a.bounded(cmd, carryTimeout)
	defer cancel()
	img, done, err := openBundle(ctx, registry, source)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	m, digest, err := inspect(img, source, "check")
	if err != nil {
		return err
	}
	if output.Machine() {
		return output.Value(a.Out, m)
	}
	a.say("Version:      %s", m.Version)
	a.say("Digest:       %s", digest)
	a.say("Upgrade from: %s", strings.Join(m.UpgradeFrom, ", "))
	if len(m.DowngradeTo) > 0 {
		a.say("Downgrade to: %s", strings.Join(m.DowngradeTo, ", "))
	}
	a.say("Components:   %s", componentText(m.Components))
	a.say("Images:       %s\n", strings.Join(m.Images, "\n              "))
	return fileTable(m).Write(a.Out, output == print.Wide)
}

func fileTable(m bundle.Manifest) print.Table {
	t := print.Table{Columns: []print.Column{{Name: "FILE"}, {Name: "COMPONENT"}, {Name: "MB"}, {Name: "SHA256", Wide: true}}}
	for _, f := range m.Files {
		t.Rows = append(t.Rows, []string{f.Path, f.Component, fmt.Sprintf("%.1f", float64(f.Size)/(1<<20)), f.SHA256})
	}
	return t
}
