package cli

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/version"
)

var (
	wholeVersion = regexp.MustCompile(`^v?1\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$`)
	minorVersion = regexp.MustCompile(`^v?1\.[0-9]+$`)
)

// versionOf reads a Kubernetes version that a person typed: the v may be left out.
func versionOf(typed string) (string, error) {
	v := "v" + strings.TrimPrefix(typed, "v")
	switch {
	case wholeVersion.MatchString(typed):
		return v, nil
	case minorVersion.MatchString(typed):
		return "", usageError(fmt.Errorf("%q is a minor: name a patch release of it, such as %s.3", typed, v))
	}
	return "", usageError(fmt.Errorf("%q is not a Kubernetes version such as v1.36.3", typed))
}

// versionArgument wants a Kubernetes version, and says which ones there are to choose from where none is given.
func (a *app) versionArgument(cmd *cobra.Command, args []string) error {
	if len(args) > 0 && args[0] != "" {
		return atMostOne("VERSION", args)
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), completionTimeout)
	defer cancel()
	choice, err := a.versionChoice(ctx)
	if err != nil { // no cluster to ask is no reason not to say what is missing
		choice = "`refit versions` lists those that are known"
	}
	return fmt.Errorf("VERSION is missing: %s", choice)
}

// versionChoice says which versions the cluster can be brought to.
func (a *app) versionChoice(ctx context.Context) (string, error) {
	c, err := a.connect()
	if err != nil {
		return "", err
	}
	var list v1alpha1.KubernetesVersionList
	if err := c.List(ctx, &list); err != nil {
		return "", err
	}
	var available, known []string
	for i := range list.Items {
		v := &list.Items[i]
		known = append(known, v.Spec.Version)
		if v.Status.State == v1alpha1.VersionAvailable || v.Status.State == v1alpha1.VersionPartial {
			available = append(available, v.Spec.Version)
		}
	}
	version.Sort(available)
	version.Sort(known)
	switch {
	case len(available) > 0:
		return "this cluster can be brought to " + strings.Join(available, ", "), nil
	case len(known) > 0:
		return fmt.Sprintf("known are %s, see `refit versions`", strings.Join(known, ", ")), nil
	}
	return "no version is known yet, make one known with `refit bundle import IMAGE`", nil
}
