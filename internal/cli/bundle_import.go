package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/spf13/cobra"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/bundle"
	"refit.dev/refit/internal/bundle/oci"
	"refit.dev/refit/internal/cli/print"
)

type importFlags struct {
	registry       oci.Registry
	imageRef, push string
	dryRun         bool
}

func newBundleImport(a *app) *cobra.Command {
	var f importFlags
	cmd := &cobra.Command{
		Use:   "import IMAGE|FILE",
		Short: "Make the Kubernetes version in a bundle known to the cluster",
		Long: `Read a bundle from a registry, or from an archive that 'refit bundle build --output' wrote; check every program against
the bundle's checksums; and create or update the KubernetesVersion. Where anything is wrong, nothing is changed.

Nodes pull the bundle by its digest, from the repository that it was read from, unless --image-ref names another one:
the same repository as the nodes call it. From an archive, the image must get to the nodes' registry: --push does that.

The bundle of a version that is known may be replaced, but not while nodes are brought to the version. Where an upgrade has
failed by its bundle: import a better one, then 'refit resume'.`,
		Example: `  refit bundle import registry.site/refit/bundle:v1.36.3
  refit bundle import localhost:5000/bundle:v1.36.3 --insecure --image-ref refit.dev/bundle
  refit bundle import v1.36.3.tar --push registry.site/refit/bundle:v1.36.3`,
		Args: bundleSource,
		RunE: func(cmd *cobra.Command, args []string) error { return a.bundleImport(cmd, args[0], f) },
	}
	cmd.Flags().StringVar(&f.imageRef, "image-ref", "", "repository from which nodes pull the bundle, e.g. refit.dev/bundle (default: the one it is read from or pushed to)")
	cmd.Flags().StringVar(&f.push, "push", "", "image name to push the bundle to first")
	cmd.Flags().BoolVar(&f.dryRun, "dry-run", false, "check the bundle and print the object, without changing anything")
	insecureFlag(cmd, &f.registry)
	return cmd
}

func (a *app) bundleImport(cmd *cobra.Command, source string, f importFlags) (err error) {
	ctx, cancel := a.bounded(cmd, carryTimeout)
	defer cancel()
	img, done, err := openBundle(ctx, f.registry, source)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	m, digest, err := inspect(img, source, "import")
	if err != nil {
		return err
	}
	repository, err := f.repository(source)
	if err != nil {
		return err
	}
	object, err := oci.Object(m, repository, digest)
	if err != nil {
		return usageError(err)
	}
	if f.dryRun {
		yaml := print.YAML
		return yaml.Value(a.Out, manifestOf(object))
	}
	if f.push != "" {
		if _, err := a.pushImage(ctx, f.registry, img, f.push); err != nil {
			return err
		}
	}
	return a.applyVersion(ctx, object, m)
}

// repository is where nodes pull the bundle from.
func (f *importFlags) repository(source string) (string, error) {
	switch {
	case f.imageRef != "":
		return f.imageRef, nil
	case f.push != "":
		source = f.push
	}
	ref, err := name.ParseReference(source, name.StrictValidation)
	if err != nil {
		return "", usageError(fmt.Errorf("%s is an archive: say with --push where to bring it, or with --image-ref where nodes find it", source))
	}
	return ref.Context().Name(), nil
}

func (a *app) applyVersion(ctx context.Context, object *v1alpha1.KubernetesVersion, m bundle.Manifest) error {
	c, err := a.connect()
	if err != nil {
		return err
	}
	var known v1alpha1.KubernetesVersion
	err = c.Get(ctx, client.ObjectKeyFromObject(object), &known)
	switch {
	case apierrors.IsNotFound(err):
		if err := c.Create(ctx, object); err != nil {
			return fmt.Errorf("create KubernetesVersion %s: %w", m.Version, err)
		}
		a.say("%s is known now: %d programs, checksums verified; see `refit plan %s`", m.Version, len(m.Files), m.Version)
		return nil
	case err != nil:
		return fmt.Errorf("read KubernetesVersion %s: %w", m.Version, err)
	}
	if object.Spec.Networking == nil {
		object.Spec.Networking = known.Spec.Networking // set by hand: a bundle without one says nothing about it
	}
	if apiequality.Semantic.DeepEqual(known.Spec, object.Spec) {
		a.say("%s was known already, from this very bundle: nothing changed", m.Version)
		return nil
	}
	if err := refuseWhileUpgrading(ctx, c, m.Version); err != nil {
		return err
	}
	known.Spec = object.Spec
	if err := c.Update(ctx, &known); err != nil {
		return fmt.Errorf("update KubernetesVersion %s: %w", m.Version, err)
	}
	a.say("%s has a new bundle: %d programs, checksums verified", m.Version, len(m.Files))
	return nil
}

// refuseWhileUpgrading keeps the programs of a version from changing under the nodes that are brought to it. An upgrade that has
// failed begins no node, and a better bundle may be what it needs.
func refuseWhileUpgrading(ctx context.Context, c client.Reader, version string) error {
	upgrades, err := listUpgrades(ctx, c)
	if err != nil {
		return err
	}
	var nodes v1alpha1.NodeUpgradeList
	if err := c.List(ctx, &nodes, client.InNamespace(v1alpha1.Namespace)); err != nil {
		return fmt.Errorf("list the nodes' upgrades: %w", err)
	}
	u, changing := unfinished(upgrades), claims(nodes.Items).changing(version)
	switch {
	case len(changing) > 0:
		return fmt.Errorf("%s still at work with %s, whose bundle cannot be changed meanwhile: wait until that has ended (see `refit nodes`); `refit abort` keeps other nodes from beginning",
			are(changing), version)
	case u == nil || stopped(u) || !slices.Contains(hopsOf(u), version):
		return nil
	}
	return fmt.Errorf("upgrade %s installs %s now, whose bundle cannot be changed meanwhile: wait until it has ended (see `refit status`), or `refit abort`", u.Name, version)
}

// stopped says whether an upgrade begins nothing before a person resumes it.
func stopped(u *v1alpha1.KubernetesUpgrade) bool {
	return u.Status.State == v1alpha1.StateUpgradeFailed && u.Spec.Resume <= u.Status.Resumed
}

// are names nodes as the subject of a sentence.
func are(nodes []string) string {
	verb := " are"
	if len(nodes) == 1 {
		verb = " is"
	}
	return strings.Join(nodes, ", ") + verb
}

// manifestOf leaves out of an object what a person would not write.
func manifestOf(v *v1alpha1.KubernetesVersion) any {
	return map[string]any{
		"apiVersion": v.APIVersion, "kind": v.Kind,
		"metadata": map[string]any{"name": v.Name},
		"spec":     v.Spec,
	}
}
