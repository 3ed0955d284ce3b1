package cli

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"refit.dev/refit/internal/cli/print"
	"refit.dev/refit/internal/cli/windows"
)

// mostWindows of a config are shown.
const mostWindows = 1000

type scheduleFlags struct {
	files     []string
	namespace string
	count     int
	from      string
	output    print.Format
}

// start is --from, or else now.
func (f *scheduleFlags) start(now time.Time) (time.Time, error) {
	if f.from == "" {
		return now, nil
	}
	from, err := time.Parse(time.RFC3339, f.from)
	if err != nil {
		return from, usageError(fmt.Errorf("--from %q is not a time: write it as 2026-12-01T00:00:00Z or 2026-12-01T00:00:00+01:00", f.from))
	}
	return from, nil
}

func newSchedule(a *app) *cobra.Command {
	var f scheduleFlags
	cmd := &cobra.Command{
		Use:   "schedule [CONFIG]",
		Short: "Show the next maintenance windows, and what would happen in each; changes nothing",
		Long: `Show the next maintenance windows of every UpgradeConfig, on the clock of its location, and what would happen in each if
nothing changes until then: the version that would be pinned now, and what is suspended. It is worked out by the functions
that the manager decides with.

A suspension acts at one of two moments. Where spec.schedule.suspend or the configSelector of an UpgradeSuspensionWindow
holds when the job would be created (JOB CREATED), there is no job. Where a jobSelector holds when the job would start
(STARTS), the job is skipped.

With -f the manifests are read from files and no cluster is needed: a schedule can be tried before it is applied. Kinds
other than UpgradeConfig and UpgradeSuspensionWindow are passed over. A location that is Local, or left out, is the
zone of the manager, and is taken to be UTC.`,
		Example: `  refit schedule
  refit schedule maintenance/cluster-upgrade --count 10
  refit schedule -n maintenance -o wide
  refit schedule -f config.yaml --from 2026-12-01T00:00:00Z --count 5 -o json
  kustomize build . | refit schedule -f -`,
		Args:              func(_ *cobra.Command, args []string) error { return atMostOne("CONFIG", args) },
		ValidArgsFunction: a.completeOne(a.configNames),
		RunE:              func(cmd *cobra.Command, args []string) error { return a.schedule(cmd, first(args), f) },
	}
	flags := cmd.Flags()
	flags.StringArrayVarP(&f.files, "filename", "f", nil, "file with manifests to go by instead of the cluster; - is the standard input")
	flags.StringVarP(&f.namespace, "namespace", "n", "", "UpgradeConfigs of this namespace alone (default: of all)")
	flags.IntVar(&f.count, "count", 3, fmt.Sprintf("how many windows of each UpgradeConfig, 1 to %d", mostWindows))
	flags.StringVar(&f.from, "from", "", "from when on, e.g. 2026-12-01T00:00:00Z (default: now)")
	outputFlag(cmd, &f.output)
	_ = cmd.RegisterFlagCompletionFunc("namespace", a.completeNames(a.namespaceNames))
	return cmd
}

func (a *app) schedule(cmd *cobra.Command, config string, f scheduleFlags) error {
	from, err := f.start(a.clock.Now())
	if err != nil {
		return err
	}
	if f.count < 1 || f.count > mostWindows {
		return usageError(fmt.Errorf("--count %d is not between 1 and %d", f.count, mostWindows))
	}
	var all []windows.Window
	if len(f.files) > 0 {
		all, err = a.scheduleOfFiles(config, f, from)
	} else {
		all, err = a.scheduleOfCluster(cmd, config, f, from)
	}
	if err != nil {
		return err
	}
	windows.Sort(all)
	if f.output.Machine() {
		return f.output.Value(a.Out, all)
	}
	if len(all) == 0 {
		return nil
	}
	return windows.Table(all, from).Write(a.Out, f.output == print.Wide)
}

// scheduleOfFiles is what manifests say, as if nothing had happened yet.
func (a *app) scheduleOfFiles(config string, f scheduleFlags, from time.Time) ([]windows.Window, error) {
	read, err := a.manifests(f)
	if err != nil {
		return nil, err
	}
	configs, err := pick(config, f.namespace, read.Configs)
	if err != nil {
		return nil, usageError(err)
	}
	a.noteManagersZone(configs)
	var all []windows.Window
	var wrong []error
	for i := range configs {
		found, err := windows.Forecast(windows.Input{Config: inManagersZone(&configs[i]), Suspensions: read.Suspensions, From: from, Count: f.count})
		if err != nil {
			wrong = append(wrong, fmt.Errorf("%s: UpgradeConfig %s: spec.%w", read.FileOf(&configs[i]), windows.NameOf(&configs[i]), err))
		}
		all = append(all, found...)
	}
	return all, usageError(errors.Join(wrong...))
}
