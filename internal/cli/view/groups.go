package view

import (
	"fmt"
	"strings"

	"refit.dev/refit/api/v1alpha1"
)

// mostGroupLines is how many lines of the live view the groups may take.
const mostGroupLines = 2

// GroupName is how a group is called: the workers that none selects have a group without a name.
func GroupName(name string) string {
	if name == "" {
		return "(rest)"
	}
	return name
}

// groupLines sum the groups of the plan up; none where it has none.
func groupLines(u *v1alpha1.KubernetesUpgrade, width int) []string {
	if len(u.Status.Groups) == 0 {
		return nil
	}
	var parts []string
	for _, g := range u.Status.Groups {
		parts = append(parts, groupText(g))
	}
	return wrap("Groups: "+strings.Join(parts, ", "), width, mostGroupLines)
}

func groupText(g v1alpha1.GroupStatus) string {
	text := fmt.Sprintf("%s %d/%d", GroupName(g.Name), g.Upgraded, g.Total)
	if g.Failed > 0 {
		text += fmt.Sprintf(" (%d failed)", g.Failed)
	}
	switch g.State {
	case v1alpha1.GroupDone:
		text += " done"
	case v1alpha1.GroupSoaking:
		text += " soaking"
	case v1alpha1.GroupVerifying:
		text += " verifying"
	case v1alpha1.GroupApproval:
		text += " to be approved"
	case v1alpha1.GroupAborted:
		text += " aborted"
	}
	return text
}
