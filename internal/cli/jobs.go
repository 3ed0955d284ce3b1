package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"refit.dev/refit/api/managedupgrade/v1beta1"
	"refit.dev/refit/internal/cli/print"
)

type jobFlags struct {
	namespace string
	output    print.Format
	watch     bool
}

func newJobs(a *app) *cobra.Command {
	var f jobFlags
	cmd := &cobra.Command{
		Use:   "jobs",
		Short: "List the upgrades of maintenance windows: what each installs, when, and how it went",
		Long: `List the UpgradeJobs, the newest first. STARTS is on the clock of the UpgradeConfig that created the job, or else UTC.

States: pending, it waits for its window; active; paused, only delayed machine config pools are left; succeeded; failed.
REASON tells more of the last two: Skipped, say, for one that an UpgradeSuspensionWindow held. ` + "`refit jobs why`" + ` explains
a job in full.

--watch ends when no job is left that could change, with exit code 4 where one of those that were watched failed.`,
		Example: `  refit jobs
  refit jobs -n maintenance -o wide
  refit jobs --watch
  refit jobs why`,
		Args: noSubcommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.watch {
				return a.watchJobs(cmd, f)
			}
			return a.jobs(cmd, f)
		},
	}
	outputFlag(cmd, &f.output)
	cmd.Flags().BoolVarP(&f.watch, "watch", "w", false, "keep showing them until all have ended; with -o json a line, with -o yaml a document for each change of a job")
	cmd.PersistentFlags().StringVarP(&f.namespace, "namespace", "n", "", "UpgradeJobs of this namespace alone (default: of all)")
	_ = cmd.RegisterFlagCompletionFunc("namespace", a.completeNames(a.namespaceNames))
	cmd.AddCommand(newJobsWhy(a, &f.namespace))
	return cmd
}

func (a *app) jobs(cmd *cobra.Command, f jobFlags) error {
	ctx, cancel := a.bounded(cmd, defaultTimeout)
	defer cancel()
	c, err := a.connect()
	if err != nil {
		return err
	}
	known, err := readMaintenance(ctx, c, f.namespace)
	if err != nil {
		return err
	}
	if f.output.Machine() {
		return f.output.Value(a.Out, listOf(known.jobs))
	}
	if len(known.jobs) == 0 {
		a.note("There is no UpgradeJob yet: `refit schedule` shows when the next is created.")
		return nil
	}
	return jobTable(known, a.clock.Now()).Write(a.Out, f.output == print.Wide)
}

// listJobs gives the UpgradeJobs of a namespace, or all: the one that starts last first.
func listJobs(ctx context.Context, c client.Reader, namespace string) ([]v1beta1.UpgradeJob, error) {
	var list v1beta1.UpgradeJobList
	if err := c.List(ctx, &list, client.InNamespace(namespace)); err != nil {
		return nil, fmt.Errorf("list UpgradeJobs: %w", err)
	}
	slices.SortFunc(list.Items, func(x, y v1beta1.UpgradeJob) int {
		return cmp.Or(y.Spec.StartAfter.Compare(x.Spec.StartAfter.Time), cmp.Compare(x.Namespace, y.Namespace), cmp.Compare(x.Name, y.Name))
	})
	return list.Items, nil
}
