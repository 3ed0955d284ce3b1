package cli

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/cli/grouping"
	"refit.dev/refit/internal/cli/planfile"
	"refit.dev/refit/internal/cli/view"
	"refit.dev/refit/internal/snapshot"
)

// explained is a plan for nodes, found out without a cluster.
type explained struct {
	forecastOutput
	Plan string `json:"plan"`
	// Assumed says what nobody asked for, in words: a version, minors in between, nodes that are Ready.
	Assumed []string         `json:"assumed,omitempty"`
	Members []member         `json:"members"`
	Groups  []grouping.Group `json:"groups,omitempty"`
	// FailureBudget is how many workers may fail in all.
	FailureBudget int `json:"failureBudget"`
}

// member is a node and its group.
type member struct {
	Node    string `json:"node"`
	Role    string `json:"role"`
	Version string `json:"version"`
	// Group is empty for control planes, and without groups.
	Group    string `json:"group,omitempty"`
	Critical bool   `json:"critical,omitempty"`
	// Why it belongs there, where that is not plain.
	Why string `json:"why,omitempty"`
}

// planOffline explains a plan for nodes, both read from files.
func (a *app) planOffline(to string, f planFlags) error {
	plan, nodes, ready, err := a.planFiles(f)
	if err != nil {
		return err
	}
	e, err := explainPlan(plan, nodes, to, planfile.Cluster(nodes, plan, a.clock.Now()))
	if err != nil {
		return err
	}
	if len(ready) > 0 {
		e.Assumed = append(e.Assumed, fmt.Sprintf("%s without status.conditions, and so taken to be Ready: %s", plural(len(ready), "node"), briefly(ready)))
	}
	if f.output.Machine() {
		return f.output.Value(a.Out, e)
	}
	e.write(a, f.output)
	return nil
}

// planFiles reads the files that -f and --nodes name.
func (a *app) planFiles(f planFlags) (plan *v1alpha1.RolloutPlan, nodes []corev1.Node, ready []string, err error) {
	data, err := a.file(f.file)
	if err != nil {
		return nil, nil, nil, err
	}
	plan, passedOver, err := planfile.Plan(data)
	if err != nil {
		return nil, nil, nil, usageError(fmt.Errorf("%s: %w", fileName(f.file), err))
	}
	a.notePassedOver(f.file, passedOver)
	if data, err = a.file(f.nodes); err != nil {
		return nil, nil, nil, err
	}
	nodes, passedOver, ready, err = planfile.Nodes(data)
	if err != nil {
		return nil, nil, nil, usageError(fmt.Errorf("%s: %w", fileName(f.nodes), err))
	}
	a.notePassedOver(f.nodes, passedOver)
	return plan, nodes, ready, nil
}

func (a *app) notePassedOver(file string, objects []string) {
	if len(objects) > 0 {
		a.note("Passed over in %s: %s.", fileName(file), briefly(objects))
	}
}

// briefly names the first of many.
func briefly(names []string) string {
	if len(names) > mostNames {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:mostNames], ", "), len(names)-mostNames)
	}
	return strings.Join(names, ", ")
}

func explainPlan(plan *v1alpha1.RolloutPlan, nodes []corev1.Node, to string, c *snapshot.Cluster) (*explained, error) {
	e := &explained{Plan: plan.Name}
	if to == "" {
		to = planfile.Next(c)
		e.Assumed = append(e.Assumed, fmt.Sprintf("no VERSION was given: %s, the first of the next minor", to))
	}
	for _, v := range planfile.Make(c, to) {
		e.Assumed = append(e.Assumed, v+" on the way: it stands for the release that you import")
	}
	f, err := forecastOf(c, to, plan.Name, nil)
	if err != nil {
		return nil, err
	}
	f.Gates, f.Blocked, f.Unseen = nil, nil, nil
	e.forecastOutput = f.output()
	e.Groups, e.FailureBudget = grouping.Groups(&f.plan, c), grouping.FailureBudget(&f.plan, c)
	for _, row := range view.Rows(nodes, nil) {
		n := c.Node(row.Node)
		e.Members = append(e.Members, member{Node: n.Name, Role: row.Role, Version: row.Version, Group: grouping.Of(&f.plan, n),
			Critical: grouping.Critical(&f.plan, n), Why: grouping.Why(&f.plan, n)})
	}
	return e, nil
}
