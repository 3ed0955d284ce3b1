package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/meta"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/cli/print"
	"refit.dev/refit/internal/rollout"
)

func newStatus(a *app) *cobra.Command {
	var output print.Format
	var watch bool
	cmd := &cobra.Command{
		Use:   "status [UPGRADE]",
		Short: "Show where the upgrade stands: the one under way, or the latest",
		Example: `  refit status
  refit status --watch
  refit status -o yaml
  refit status --watch -o json`,
		ValidArgsFunction: a.completeOne(a.upgradeNames),
		Args:              maybeUpgrade,
		RunE: func(cmd *cobra.Command, args []string) error {
			if watch {
				return a.follow(cmd, watching{upgrade: first(args), output: output, objects: upgradeObject})
			}
			return a.status(cmd, first(args), output)
		},
	}
	outputFlag(cmd, &output)
	cmd.Flags().BoolVarP(&watch, "watch", "w", false, "keep showing it until the upgrade has ended; with -o json a line, with -o yaml a document for each change")
	return cmd
}

func (a *app) status(cmd *cobra.Command, name string, output print.Format) error {
	ctx, cancel := a.bounded(cmd, defaultTimeout)
	defer cancel()
	c, err := a.connect()
	if err != nil {
		return err
	}
	upgrade, err := findUpgrade(ctx, c, name)
	if err != nil {
		return err
	}
	if upgrade == nil {
		a.note("No upgrade has been started here: see `refit versions`, then `refit plan VERSION`.")
		return nil
	}
	if output.Machine() {
		return output.Value(a.Out, withKind(upgrade))
	}
	a.describe(upgrade, claimsOf(ctx, c, upgrade.Name), reading(ctx, c))
	if err := a.writeGroups(ctx, c, upgrade, output == print.Wide); err != nil {
		return err
	}
	if output == print.Wide {
		a.say("")
		return conditionTable(upgrade).Write(a.Out, true)
	}
	return nil
}

// describe writes what is known of an upgrade, a property a line.
func (a *app) describe(u *v1alpha1.KubernetesUpgrade, claims claims, node find) {
	s := &u.Status
	line := func(name, value string) {
		if value != "" {
			a.say("%-10s %s", name+":", value)
		}
	}
	line("Upgrade", u.Name)
	line("Versions", strings.Join(append([]string{orUnknown(s.FromVersion)}, hopsOf(u)...), " → "))
	line("State", string(stateOf(u))+flags(u))
	line("Nodes", countText(s.Nodes))
	if s.StartedAt != nil {
		end := a.clock.Now()
		if s.CompletedAt != nil {
			end = s.CompletedAt.Time
		}
		line("Started", fmt.Sprintf("%s (%s)", s.StartedAt.UTC().Format("2006-01-02 15:04:05 MST"), print.Duration(end.Sub(s.StartedAt.Time))))
	}
	line("Waiting", s.Waiting)
	if c := meta.FindStatusCondition(s.Conditions, v1alpha1.ConditionReady); c != nil && c.Message != s.Waiting {
		line("Message", c.Message)
	}
	for i, node := range claims.atWork(mostAtWork) {
		if i == 0 {
			line("At work", node)
		} else {
			a.say("%-10s %s", "", node)
		}
	}
	line("Next", nextCommand(u, func() []failure { return claims.failures(u, node) }))
}

func conditionTable(u *v1alpha1.KubernetesUpgrade) print.Table {
	t := print.Table{Columns: []print.Column{{Name: "CONDITION"}, {Name: "STATUS"}, {Name: "REASON"}, {Name: "MESSAGE"}}}
	for _, c := range u.Status.Conditions {
		t.Rows = append(t.Rows, []string{c.Type, string(c.Status), c.Reason, c.Message})
	}
	return t
}

func hopsOf(u *v1alpha1.KubernetesUpgrade) []string {
	if len(u.Status.Hops) > 0 {
		return u.Status.Hops
	}
	return []string{u.Spec.ToVersion}
}

func orUnknown(text string) string {
	if text == "" {
		return "?"
	}
	return text
}

// stateOf is the state, or that the manager has not looked at the upgrade yet.
func stateOf(u *v1alpha1.KubernetesUpgrade) v1alpha1.UpgradeState {
	if u.Status.State == "" {
		return "not seen by the manager yet"
	}
	return u.Status.State
}

func flags(u *v1alpha1.KubernetesUpgrade) string {
	var set []string
	if u.Spec.Paused && !u.Spec.Abort { // an abort ends what a pause holds
		set = append(set, "paused")
	}
	if u.Spec.Mode == v1alpha1.ModeManual {
		set = append(set, "Manual mode")
	}
	if len(set) == 0 {
		return ""
	}
	return " (" + strings.Join(set, ", ") + ")"
}

func countText(n v1alpha1.NodeCounts) string {
	if n.Total == 0 {
		return ""
	}
	text := fmt.Sprintf("%d of %d upgraded", n.Upgraded, n.Total)
	for _, count := range []struct {
		number int32
		name   string
	}{{n.InProgress, "in progress"}, {n.Staged, "staged"}, {n.Failed, "failed"}, {n.Unavailable, "unavailable"}} {
		if count.number > 0 {
			text += fmt.Sprintf(", %d %s", count.number, count.name)
		}
	}
	return text
}

// nextCommand is what a person would type next, empty where nothing is to be done.
func nextCommand(u *v1alpha1.KubernetesUpgrade, failed func() []failure) string {
	switch {
	case u.Status.State == "":
		return "where it stays like this, no manager runs: see `kubectl -n " + v1alpha1.Namespace + " get pods`"
	case u.Status.State == v1alpha1.StateUpgradeFailed:
		return afterFailure(u, failed())
	case u.Status.State == v1alpha1.StateUpgradeAborted && u.Finished() && u.Reason() != rollout.ReasonOvertaken:
		return "`refit resume` goes on with the nodes that are left; `refit nodes` lists what each runs"
	case u.Finished() || u.Spec.Abort:
		return ""
	case u.Spec.Paused:
		return "`refit resume` goes on"
	case approvals(u) != "":
		return approvals(u)
	case u.Spec.Mode == v1alpha1.ModeManual:
		return "`refit step control-plane NODE`, `refit step networking` or `refit step kubelet NODE`"
	}
	return ""
}
