package cli

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"refit.dev/refit/api/managedupgrade/v1beta1"
	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/cli/print"
	"refit.dev/refit/internal/version"
)

func newVersions(a *app) *cobra.Command {
	var output print.Format
	cmd := &cobra.Command{
		Use:     "versions",
		Aliases: []string{"kube-versions"},
		Short:   "List the Kubernetes versions that this cluster runs or could be brought to",
		Long: `List the Kubernetes versions that are known here, and those that run though their bundle was not imported.

States: active, every component of every node runs it; partial, it runs somewhere; available, the cluster can be
upgraded to it; unavailable, there is no way to it. Target marks the version selected for installation. -o json and
-o yaml print the KubernetesVersions, and so the imported ones alone.`,
		Example: `  refit versions
  refit versions -o wide
  refit versions -o json`,
		Args: none,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.versions(cmd, output) },
	}
	outputFlag(cmd, &output)
	return cmd
}

func (a *app) versions(cmd *cobra.Command, output print.Format) error {
	ctx, cancel := a.bounded(cmd, defaultTimeout)
	defer cancel()
	c, err := a.connect()
	if err != nil {
		return err
	}
	var list v1alpha1.KubernetesVersionList
	if err := c.List(ctx, &list); err != nil {
		return fmt.Errorf("list Kubernetes versions: %w", err)
	}
	slices.SortFunc(list.Items, func(x, y v1alpha1.KubernetesVersion) int { return version.Compare(x.Spec.Version, y.Spec.Version) })
	if output.Machine() {
		return output.Value(a.Out, listOf(list.Items))
	}
	return a.versionList(ctx, c, list.Items, output)
}

// versionList prints the versions that are known and those that run.
func (a *app) versionList(ctx context.Context, c client.Client, known []v1alpha1.KubernetesVersion, output print.Format) error {
	running, err := a.runningVersions(ctx, c, known)
	if err != nil {
		a.note("What the nodes run could not be read altogether: %v", err)
	}
	all := slices.Concat(known, running)
	slices.SortFunc(all, func(x, y v1alpha1.KubernetesVersion) int { return version.Compare(x.Spec.Version, y.Spec.Version) })
	if len(all) > 0 {
		if err := versionTable(all).Write(a.Out, output == print.Wide); err != nil {
			return err
		}
	}
	if len(known) == 0 {
		a.note("No Kubernetes version is known yet: make one known with `refit bundle import IMAGE`.")
	}
	return nil
}

func versionTable(versions []v1alpha1.KubernetesVersion) print.Table {
	t := print.Table{Columns: []print.Column{{Name: "VERSION"}, {Name: "TARGET"}, {Name: "STATE"}, {Name: "BUNDLE"},
		{Name: "FROM", Wide: true}, {Name: "COMPONENTS", Wide: true}, {Name: "IMAGE", Wide: true}}}
	for _, v := range versions {
		target, state := strconv.FormatBool(v.Status.Target), string(v.Status.State)
		if state == "" { // the manager has not looked at it yet
			target = ""
		}
		bundle := "imported"
		if v.Spec.Image == "" {
			bundle = "not imported"
		}
		t.Rows = append(t.Rows, []string{v.Spec.Version, target, state, bundle,
			strings.Join(v.Spec.UpgradeFrom, ","), componentText(v.Spec.Components), v.Spec.Image})
	}
	return t
}

func componentText(components []v1alpha1.Component) string {
	var parts []string
	for _, c := range components {
		if c.Name != "kubernetes" {
			parts = append(parts, c.Name+" "+c.Version)
		}
	}
	return strings.Join(parts, ", ")
}

// outputFlag gives a command that lists its -o.
func outputFlag(cmd *cobra.Command, output *print.Format) {
	cmd.Flags().VarP(output, "output", "o", "how to print: table, wide, json or yaml")
	// The flag was defined in the line above: there is no other error.
	_ = cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(print.Formats, cobra.ShellCompDirectiveNoFileComp))
}

// objectList is a list as `kubectl get -o json` prints one.
type objectList struct {
	APIVersion string          `json:"apiVersion"`
	Kind       string          `json:"kind"`
	Items      []client.Object `json:"items"`
}

// listOf wraps objects for -o json and yaml, each with its kind, which lists from the API server leave out.
func listOf[T any, P interface {
	*T
	client.Object
}](items []T) objectList {
	list := objectList{APIVersion: "v1", Kind: "List", Items: []client.Object{}}
	for i := range items {
		list.Items = append(list.Items, withKind(P(&items[i])))
	}
	return list
}

// withKind sets the kind of one of Refit's objects, and drops what only the API server uses.
func withKind[P client.Object](object P) P {
	group := v1alpha1.GroupVersion
	kind := fmt.Sprintf("%T", object)
	if strings.HasPrefix(kind, "*v1beta1.") {
		group = v1beta1.GroupVersion
	}
	kind = kind[strings.LastIndex(kind, ".")+1:]
	object.GetObjectKind().SetGroupVersionKind(group.WithKind(kind))
	object.SetManagedFields(nil)
	return object
}
