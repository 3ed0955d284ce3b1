package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/cli/print"
	"refit.dev/refit/internal/gate"
)

// planFlags say what `refit plan` is to show.
type planFlags struct {
	plan    string
	exclude []string
	// file and nodes explain a plan without a cluster.
	file, nodes string
	rollback    bool
	output      print.Format
}

func newPlan(a *app) *cobra.Command {
	var f planFlags
	cmd := &cobra.Command{
		Use:   "plan VERSION",
		Short: "Show what an upgrade would do, and what is in its way; changes nothing",
		Long: `Show what an upgrade would do: the way there, the gates and what each saw, the control planes and the waves of
workers in their order, and an estimate. It is worked out by the functions that the manager decides with, from what
the cluster looks like now. Nothing is changed. The exit code is 3 where a gate is closed, and while an upgrade has not
ended: then there is no forecast, but what is left of that upgrade is shown.

With -f and --nodes no cluster is asked: a RolloutPlan is explained for nodes as 'kubectl get nodes -o json' prints them.
Shown are the group of each node, the limits of each group as numbers, the waves, and what is wrong with the plan. Without
VERSION the next minor is taken. Gates, etcd and the versions that are imported are not looked at.

With --rollback the way back is shown: to VERSION, or else to the highest patch release that the version which runs names
in its downgradeTo and that is imported. Where there is none, as to another minor, what is shown is how to restore the
etcd snapshots that Refit took, with the names of this cluster. The exit code is 0 where there is a way back by version,
and 3 where only a snapshot is left.`,
		Example: `  refit plan v1.36.3
  refit plan v1.36.3 --exclude-gate removed-apis
  refit plan v1.36.3 --plan weekend -o json
  kubectl get nodes -o json > nodes.json && refit plan -f weekend.yaml --nodes nodes.json
  refit plan v1.36.3 -f - --nodes nodes.json -o wide < weekend.yaml
  refit plan --rollback`,
		Args: func(cmd *cobra.Command, args []string) error {
			if f.offline() || f.rollback {
				return atMostOne("VERSION", args)
			}
			return a.versionArgument(cmd, args)
		},
		ValidArgsFunction: a.completeOne(a.versionNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.planCommand(cmd, first(args), f)
		},
	}
	outputFlag(cmd, &f.output)
	sharedPlanFlags(a, cmd, &f.plan, &f.exclude)
	flags := cmd.Flags()
	flags.StringVarP(&f.file, "filename", "f", "", "file with the RolloutPlan to explain, instead of asking the cluster; - is the standard input")
	flags.StringVar(&f.nodes, "nodes", "", "with -f: file with the nodes, as 'kubectl get nodes -o json' prints them; - is the standard input")
	flags.BoolVar(&f.rollback, "rollback", false, "show the way back to an earlier version")
	return cmd
}

// sharedPlanFlags say how an upgrade is to go; plan and upgrade share them.
func sharedPlanFlags(a *app, cmd *cobra.Command, plan *string, exclude *[]string) {
	cmd.Flags().StringVar(plan, "plan", "", "RolloutPlan to go by (default: one worker at a time)")
	cmd.Flags().StringSliceVar(exclude, "exclude-gate", nil, "gates, by name, that are not to hold the upgrade up")
	_ = cmd.RegisterFlagCompletionFunc("plan", a.completeNames(a.planNames))
	_ = cmd.RegisterFlagCompletionFunc("exclude-gate", cobra.FixedCompletions(gate.Names(), cobra.ShellCompDirectiveNoFileComp))
}

func (f *planFlags) offline() bool { return f.file != "" || f.nodes != "" }

// check refuses flags that do not go together.
func (f *planFlags) check() error {
	var why string
	switch {
	case f.offline() && f.rollback:
		why = "--rollback asks the cluster, and -f does not: leave one of them out"
	case f.nodes == "" && f.file != "":
		why = "--nodes is missing: write the nodes to a file with `kubectl get nodes -o json > nodes.json`, and name that"
	case f.file == "" && f.nodes != "":
		why = "-f is missing: name a file with the RolloutPlan to explain for the nodes"
	case f.file == "-" && f.nodes == "-":
		why = "-f and --nodes cannot both be the standard input: name a file for one of them"
	case f.offline() && f.plan != "":
		why = "--plan names a RolloutPlan of the cluster, and -f reads one from a file: leave one of them out"
	case f.offline() && len(f.exclude) > 0:
		why = "--exclude-gate is for a cluster, and with -f none is asked: leave it out"
	default:
		return checkGateNames(f.exclude)
	}
	return usageError(errors.New(why))
}

func (a *app) planCommand(cmd *cobra.Command, to string, f planFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	if to != "" {
		var err error
		if to, err = versionOf(to); err != nil {
			return err
		}
	}
	switch {
	case f.offline():
		return a.planOffline(to, f)
	case f.rollback:
		return a.rollback(cmd, to, f)
	}
	return a.plan(cmd, to, f)
}

func (a *app) plan(cmd *cobra.Command, to string, flags planFlags) error {
	ctx, cancel := a.bounded(cmd, defaultTimeout)
	defer cancel()
	c, err := a.connect()
	if err != nil {
		return err
	}
	upgrades, err := listUpgrades(ctx, c)
	if err != nil {
		return err
	}
	if u := unfinished(upgrades); u != nil {
		return a.planUnderWay(ctx, c, u, to, flags.output)
	}
	f, err := a.forecast(ctx, c, to, flags.plan, flags.exclude)
	if err != nil {
		return err
	}
	if flags.output.Machine() {
		if err := flags.output.Value(a.Out, f.output()); err != nil {
			return err
		}
	} else {
		f.write(a)
	}
	if len(f.Blocked) > 0 {
		return &exitError{code: ExitBlocked, err: &silentError{}}
	}
	return nil
}

// planUnderWay shows what is left of the upgrade that has not ended. Nothing else can start: the exit code says so.
func (a *app) planUnderWay(ctx context.Context, c client.Client, u *v1alpha1.KubernetesUpgrade, asked string, output print.Format) error {
	nodes, claims, err := listNodes(ctx, c)
	if err != nil {
		return err
	}
	w := newUnderWay(u, nodes, claims)
	if output.Machine() {
		if err := output.Value(a.Out, map[string]any{"to": asked, "underWay": w}); err != nil {
			return err
		}
	} else {
		w.write(a, asked)
	}
	return &exitError{code: ExitBlocked, err: &silentError{}}
}
