package cli

import (
	"runtime"

	"github.com/spf13/cobra"

	"refit.dev/refit/internal/buildinfo"
	"refit.dev/refit/internal/cli/print"
)

type versionInfo struct {
	Refit    string `json:"refit"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func newVersion(a *app) *cobra.Command {
	var output print.Format
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print which build of Refit this is",
		Example: `  refit version -o json`,
		Args:    none,
		RunE: func(*cobra.Command, []string) error {
			info := versionInfo{Refit: buildinfo.Version, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
			if output.Machine() {
				return output.Value(a.Out, info)
			}
			a.say("refit %s (%s, %s)", info.Refit, info.Go, info.Platform)
			return nil
		},
	}
	outputFlag(cmd, &output)
	return cmd
}
