package cli

import (
	"context"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/cli/print"
	"refit.dev/refit/internal/gate"
)

func newPlan(a *app) *cobra.Command {
	var output print.Format
	var plan string
	var exclude []string
	cmd := &cobra.Command{
		Use:   "plan VERSION",
		Short: "Show what an upgrade would do, and what is in its way; changes nothing",
		Long: `Show what an upgrade would do: the way there, the gates and what each saw, the control planes and the waves of
workers in their order, and an estimate. It is worked out by the functions that the manager decides with, from what
the cluster looks like now. Nothing is changed. The exit code is 3 where a gate is closed, and while an upgrade has not
ended: then there is no forecast, but what is left of that upgrade is shown.`,
		Example: `  refit plan v1.36.3
  refit plan v1.36.3 --exclude-gate removed-apis
  refit plan v1.36.3 --plan weekend -o json`,
		Args:              a.versionArgument,
		ValidArgsFunction: a.completeOne(a.versionNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.plan(cmd, args[0], plan, exclude, output)
		},
	}
	outputFlag(cmd, &output)
	planFlags(a, cmd, &plan, &exclude)
	return cmd
}

// planFlags say how an upgrade is to go; plan and upgrade share them.
func planFlags(a *app, cmd *cobra.Command, plan *string, exclude *[]string) {
	cmd.Flags().StringVar(plan, "plan", "", "RolloutPlan to go by (default: one worker at a time)")
	cmd.Flags().StringSliceVar(exclude, "exclude-gate", nil, "gates, by name, that are not to hold the upgrade up")
	_ = cmd.RegisterFlagCompletionFunc("plan", a.completeOne(a.planNames))
	_ = cmd.RegisterFlagCompletionFunc("exclude-gate", cobra.FixedCompletions(gate.Names(), cobra.ShellCompDirectiveNoFileComp))
}

func (a *app) plan(cmd *cobra.Command, to, plan string, exclude []string, output print.Format) error {
	to, err := versionOf(to)
	if err != nil {
		return err
	}
	if err := checkGateNames(exclude); err != nil {
		return err
	}
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
		return a.planUnderWay(ctx, c, u, to, output)
	}
	f, err := a.forecast(ctx, c, to, plan, exclude)
	if err != nil {
		return err
	}
	if output.Machine() {
		if err := output.Value(a.Out, f.output()); err != nil {
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
