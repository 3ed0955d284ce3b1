package cli

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/cli/print"
	"refit.dev/refit/internal/cli/view"
)

// underWay is what `refit plan` shows while an upgrade has not ended: no estimate, as where the nodes will be when it has is
// not known, but what is left of it.
type underWay struct {
	Upgrade   string `json:"upgrade"`
	ToVersion string `json:"toVersion"`
	// State is empty until the manager has seen the upgrade.
	State v1alpha1.UpgradeState `json:"state,omitempty"`
	// Remaining are the nodes that are not at the upgrade's version yet.
	Remaining []view.Row `json:"remaining"`

	of *v1alpha1.KubernetesUpgrade
}

func newUnderWay(u *v1alpha1.KubernetesUpgrade, nodes []corev1.Node, claims []v1alpha1.NodeUpgrade) *underWay {
	w := &underWay{Upgrade: u.Name, ToVersion: u.Spec.ToVersion, State: u.Status.State, Remaining: []view.Row{}, of: u}
	for _, row := range view.Rows(nodes, claims) {
		if row.Version != w.ToVersion || row.Target == w.ToVersion && row.Phase != v1alpha1.NodeCompleted {
			w.Remaining = append(w.Remaining, row)
		}
	}
	return w
}

// write prints it for a person who asked about a version.
func (w *underWay) write(a *app, asked string) {
	counted := ""
	if text := countText(w.of.Status.Nodes); text != "" {
		counted = ", " + text
	}
	a.say("Upgrade %s to %s has not ended: %s%s.", w.Upgrade, w.ToVersion, stateOf(w.of), counted)
	if asked != w.ToVersion {
		a.say("What an upgrade to %s would do can be said once it has.", asked)
	}
	if waiting := w.of.Status.Waiting; waiting != "" {
		a.say("It waits: %s", waiting)
	}
	if len(w.Remaining) > 0 {
		a.section(fmt.Sprintf("What remains: %s", plural(len(w.Remaining), "node")), remainingTable(w.Remaining))
	}
	a.say("\n`refit status --watch` shows it until it ends, `refit status` says what can be done, and `refit abort` ends it.")
}

func remainingTable(rows []view.Row) print.Table {
	t := print.Table{Columns: []print.Column{{Name: "NODE"}, {Name: "ROLE"}, {Name: "VERSION"}, {Name: "PHASE"}, {Name: "STEP"}}}
	for _, r := range rows {
		t.Rows = append(t.Rows, []string{r.Node, r.Role, r.Version, r.PhaseText(), r.StepText()})
	}
	return t
}
