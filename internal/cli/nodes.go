package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/cli/print"
	"refit.dev/refit/internal/cli/view"
)

func newNodes(a *app) *cobra.Command {
	var output print.Format
	var watch bool
	cmd := &cobra.Command{
		Use:   "nodes",
		Short: "List the nodes, what they run, and where each stands in the upgrade",
		Example: `  refit nodes
  refit nodes -o wide
  refit nodes --watch
  refit nodes --watch -o json`,
		Args: none,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if watch {
				return a.follow(cmd, watching{output: output, objects: nodeObjects})
			}
			return a.nodes(cmd, output)
		},
	}
	outputFlag(cmd, &output)
	cmd.Flags().BoolVarP(&watch, "watch", "w", false, "keep showing them until the upgrade has ended; with -o json a line, with -o yaml a document for each change of a node")
	return cmd
}

func (a *app) nodes(cmd *cobra.Command, output print.Format) error {
	ctx, cancel := a.bounded(cmd, defaultTimeout)
	defer cancel()
	c, err := a.connect()
	if err != nil {
		return err
	}
	nodes, upgrades, err := listNodes(ctx, c)
	if err != nil {
		return err
	}
	rows := view.Rows(nodes, upgrades)
	fillGroups(ctx, c, nodes, rows)
	if output.Machine() {
		return output.Value(a.Out, rows)
	}
	return nodeTable(rows, a.clock.Now()).Write(a.Out, output == print.Wide)
}

func listNodes(ctx context.Context, c client.Reader) ([]corev1.Node, []v1alpha1.NodeUpgrade, error) {
	var nodes corev1.NodeList
	if err := c.List(ctx, &nodes); err != nil {
		return nil, nil, fmt.Errorf("list nodes: %w", err)
	}
	var upgrades v1alpha1.NodeUpgradeList
	if err := c.List(ctx, &upgrades, client.InNamespace(v1alpha1.Namespace)); err != nil {
		return nil, nil, fmt.Errorf("list node upgrades: %w", err)
	}
	return nodes.Items, upgrades.Items, nil
}

func nodeTable(rows []view.Row, now time.Time) print.Table {
	t := print.Table{Columns: []print.Column{{Name: "NODE"}, {Name: "ROLE"}, {Name: "READY"}, {Name: "VERSION"}, {Name: "TARGET"},
		{Name: "PHASE"}, {Name: "STEP"}, {Name: "TIME"}, {Name: "RUNTIME", Wide: true}, {Name: "POD", Wide: true}, {Name: "MESSAGE", Wide: true}}}
	for _, r := range rows {
		t.Rows = append(t.Rows, []string{r.Node, r.Role, r.Ready, r.Version, r.Target,
			string(r.Phase), r.StepText(), r.Elapsed(now), strings.TrimPrefix(r.Runtime, "containerd://"), r.Pod, r.Message})
	}
	if slices.ContainsFunc(rows, func(r view.Row) bool { return r.Group != "" }) {
		t.Columns = slices.Insert(t.Columns, 2, print.Column{Name: "GROUP", Wide: true})
		for i, r := range rows {
			t.Rows[i] = slices.Insert(t.Rows[i], 2, r.Group)
		}
	}
	return t
}

// findNode makes sure that a node exists, and otherwise says which names are close.
func findNode(ctx context.Context, c client.Reader, name string) (*corev1.Node, error) {
	var list corev1.NodeList
	if err := c.List(ctx, &list); err != nil {
		return nil, fmt.Errorf("list nodes: %w", err)
	}
	var names []string
	for i := range list.Items {
		if list.Items[i].Name == name {
			return &list.Items[i], nil
		}
		names = append(names, list.Items[i].Name)
	}
	return nil, &noNodeError{name: name, close: suggest(name, names)}
}

// noNodeError says that there is no node of that name.
type noNodeError struct {
	name string
	// close names those that might be meant.
	close string
}

func (e *noNodeError) Error() string {
	return fmt.Sprintf("there is no node %q%s; `refit nodes` lists them", e.name, e.close)
}
