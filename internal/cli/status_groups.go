package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/cli/grouping"
	"refit.dev/refit/internal/cli/print"
	"refit.dev/refit/internal/cli/view"
	"refit.dev/refit/internal/observe"
)

// writeGroups lists the groups of an upgrade's plan, where it has any. The plan is asked for the soaks; without it the rest is worth showing.
func (a *app) writeGroups(ctx context.Context, c client.Client, u *v1alpha1.KubernetesUpgrade, wide bool) error {
	if len(u.Status.Groups) == 0 {
		return nil
	}
	plan, err := groupsOf(ctx, c, u)
	if err != nil {
		plan = nil
	}
	a.say("")
	return groupStateTable(u, plan).Write(a.Out, wide)
}

func groupStateTable(u *v1alpha1.KubernetesUpgrade, plan []v1alpha1.NodeGroup) print.Table {
	t := print.Table{Columns: []print.Column{{Name: "GROUP"}, {Name: "STATE"}, {Name: "DONE"}, {Name: "FAILED"},
		{Name: "NODES DONE AT", Wide: true}, {Name: "VERIFIED", Wide: true}, {Name: "WAITS FOR"}}}
	for i := range u.Status.Groups {
		g := &u.Status.Groups[i]
		failed, doneAt, verified := "", "", ""
		if g.Failed > 0 {
			failed = fmt.Sprint(g.Failed)
		}
		if g.NodesDoneAt != nil {
			doneAt = g.NodesDoneAt.UTC().Format(time.RFC3339)
		}
		if g.Verified {
			verified = "yes"
		}
		t.Rows = append(t.Rows, []string{view.GroupName(g.Name), string(g.State), fmt.Sprintf("%d/%d", g.Upgraded, g.Total), failed, doneAt, verified,
			waitsFor(u, i, plan)})
	}
	return t
}

// waitsFor says what a group waits for, with the command to type where there is one.
func waitsFor(u *v1alpha1.KubernetesUpgrade, i int, plan []v1alpha1.NodeGroup) string {
	g := &u.Status.Groups[i]
	switch g.State {
	case v1alpha1.GroupApproval:
		return fmt.Sprintf("a person: `refit approve %s`", g.Name)
	case v1alpha1.GroupAborted:
		return "`refit resume`"
	case v1alpha1.GroupWaiting:
		return "the groups before it"
	case v1alpha1.GroupVerifying:
		return fmt.Sprintf("its Job: `kubectl -n %s get jobs -l %s=%s`", v1alpha1.Namespace, v1alpha1.LabelUpgrade, u.Name)
	case v1alpha1.GroupSoaking:
		for j := range plan {
			if plan[j].Name == g.Name && plan[j].Soak != nil && g.NodesDoneAt != nil {
				return "time: it soaks until " + g.NodesDoneAt.Add(plan[j].Soak.Duration).UTC().Format("2006-01-02 15:04:05 MST")
			}
		}
		return "time: it soaks"
	}
	return ""
}

// approvals are the commands by which groups that wait for a person go on; empty where none does.
func approvals(u *v1alpha1.KubernetesUpgrade) string {
	var commands []string
	for _, g := range u.Status.Groups {
		if g.State == v1alpha1.GroupApproval {
			commands = append(commands, "`refit approve "+g.Name+"`")
		}
	}
	return strings.Join(commands, ", ")
}

// fillGroups writes the group of each node into its row, by the plan of the upgrade under way, or else of the latest. What cannot be read is
// left out.
func fillGroups(ctx context.Context, c client.Client, nodes []corev1.Node, rows []view.Row) {
	u, err := findUpgrade(ctx, c, "")
	if err != nil || u == nil {
		return
	}
	groups, err := groupsOf(ctx, c, u)
	if err != nil || len(groups) == 0 {
		return
	}
	of := map[string]string{}
	plan := v1alpha1.RolloutPlanSpec{Groups: groups}
	for i := range nodes {
		n := observe.Node(&nodes[i])
		of[n.Name] = grouping.Of(&plan, &n)
	}
	for i := range rows {
		rows[i].Group = of[rows[i].Node]
	}
}
