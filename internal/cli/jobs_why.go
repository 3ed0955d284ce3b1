package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"refit.dev/refit/api/managedupgrade/v1beta1"
	"refit.dev/refit/internal/cli/print"
	"refit.dev/refit/internal/cli/windows"
)

func newJobsWhy(a *app, namespace *string) *cobra.Command {
	var output print.Format
	cmd := &cobra.Command{
		Use:   "why [NAME]",
		Short: "Explain where a job stands, or why it ended as it did, and what to do next",
		Long: `Explain where an UpgradeJob stands, or why it ended as it did: what happened when, what its last health check saw, its
hooks and the Jobs that ran them, the suspension windows that concern it, who holds the lock, what it upgrades, and what
to do next. NAME may have its namespace before it. Without NAME it is the job that starts last.

-o json and -o yaml print the UpgradeJob itself.`,
		Example: `  refit jobs why
  refit jobs why cluster-upgrade-1796158800-ef11c47
  refit jobs why maintenance/cluster-upgrade-1796158800-ef11c47 -o yaml`,
		Args:              func(_ *cobra.Command, args []string) error { return atMostOne("NAME", args) },
		ValidArgsFunction: a.completeOne(a.jobNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.jobsWhy(cmd, first(args), *namespace, output)
		},
	}
	outputFlag(cmd, &output)
	return cmd
}

func (a *app) jobsWhy(cmd *cobra.Command, name, namespace string, output print.Format) error {
	ctx, cancel := a.bounded(cmd, defaultTimeout)
	defer cancel()
	c, err := a.connect()
	if err != nil {
		return err
	}
	known, err := readMaintenance(ctx, c, namespace)
	if err != nil {
		return err
	}
	if len(known.jobs) == 0 && name == "" {
		a.note("There is no UpgradeJob yet: `refit schedule` shows when the next is created.")
		return nil
	}
	job, err := findJob(name, known.jobs)
	if err != nil {
		return err
	}
	if output.Machine() {
		return output.Value(a.Out, withKind(job))
	}
	story := a.tell(ctx, c, job, known)
	for _, line := range story.lines() {
		a.say("%s", line)
	}
	return nil
}

// findJob is the job of a name, which may have its namespace before it; without a name the one that starts last.
func findJob(name string, jobs []v1beta1.UpgradeJob) (*v1beta1.UpgradeJob, error) {
	if name == "" && len(jobs) > 0 {
		return &jobs[0], nil
	}
	var found []*v1beta1.UpgradeJob
	var names []string
	for i := range jobs {
		own := windows.NameOf(&jobs[i])
		names = append(names, own.String())
		if name == own.Name || name == own.String() {
			found = append(found, &jobs[i])
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return nil, fmt.Errorf("there are %d UpgradeJobs %q: write %s or %s", len(found), name, windows.NameOf(found[0]), windows.NameOf(found[1]))
	case len(names) == 0:
		return nil, errors.New("there is no UpgradeJob yet: `refit schedule` shows when the next is created")
	}
	close, more := suggestNamespaced(name, names), ""
	if len(names) > mostNames {
		names, more = names[:mostNames], fmt.Sprintf(" and %d older ones", len(names)-mostNames)
	}
	return nil, fmt.Errorf("there is no UpgradeJob %q%s; there are %s%s", name, close, strings.Join(names, ", "), more)
}
