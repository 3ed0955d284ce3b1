package cli

import (
	"errors"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/bundle/oci"
)

// carryTimeout bounds what moves hundreds of megabytes.
const carryTimeout = 15 * time.Minute

type buildFlags struct {
	oci.Options
	registry     oci.Registry
	push, output string
	networking   string
}

func newBundleBuild(a *app) *cobra.Command {
	var f buildFlags
	cmd := &cobra.Command{
		Use:   "build",
		Short: "Build the bundle of a Kubernetes version from its programs",
		Long: `Build the bundle of a Kubernetes version. The folder holds bin/ (kubeadm, kubelet, kubectl, containerd,
containerd-shim-runc-v2, ctr, runc, etcdctl, etcdutl) and cni/ (loopback and the other plugins). The programs are asked
for their versions. The same programs give the same image, to the byte.`,
		Example: `  refit bundle build --version v1.36.3 --from ./v1.36.3 --refit-node bin/refit-node --push registry.site/refit/bundle:v1.36.3
  refit bundle build --version v1.36.3 --from ./v1.36.3 --refit-node bin/refit-node --output v1.36.3.tar`,
		Args: none,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.bundleBuild(cmd, f) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.Version, "version", "", "Kubernetes version that the programs are, e.g. v1.36.3")
	flags.StringVar(&f.From, "from", "", "folder with bin/ and cni/")
	flags.StringVar(&f.RefitNode, "refit-node", "", "the refit-node program")
	flags.StringSliceVar(&f.UpgradeFrom, "upgrade-from", nil, "versions or minors that can be upgraded to this one (default: its own minor and the one before)")
	flags.StringSliceVar(&f.DowngradeTo, "downgrade-to", nil, "patch versions of the same minor that it may go back to (default: none)")
	flags.StringSliceVar(&f.AppliedPatches, "applied-patches", nil, "patches that must be applied before an upgrade to it")
	flags.StringSliceVar(&f.AvailablePatches, "available-patches", nil, "patches that must be available before an upgrade to it")
	flags.StringVar(&f.networking, "networking", "", "ConfigMap (NAME or NAMESPACE/NAME) with the network plugin's manifests for this version")
	flags.StringVar(&f.push, "push", "", "image name to push the bundle to")
	flags.StringVar(&f.output, "output", "", "file to write the bundle to, as an OCI archive")
	insecureFlag(cmd, &f.registry)
	require(cmd, "version", "from", "refit-node")
	return cmd
}

func (a *app) bundleBuild(cmd *cobra.Command, f buildFlags) error {
	ctx, cancel := a.bounded(cmd, carryTimeout)
	defer cancel()
	if f.push == "" && f.output == "" {
		return usageError(errors.New("say where the bundle is to go: --push IMAGE, --output FILE, or both"))
	}
	if err := f.readNetworking(); err != nil {
		return usageError(err)
	}
	var err error
	if f.Version, err = versionOf(f.Version); err != nil {
		return err
	}
	img, m, err := oci.Build(ctx, f.Options)
	if err != nil {
		return err
	}
	a.note("%s: %d programs; %s", m.Version, len(m.Files), componentText(m.Components))
	if f.output != "" {
		if err := oci.WriteArchive(img, "refit.dev/bundle:"+m.Version, f.output); err != nil {
			return err
		}
		a.say("%s", f.output)
	}
	if f.push != "" {
		byDigest, err := a.pushImage(ctx, f.registry, img, f.push)
		if err != nil {
			return err
		}
		a.say("%s", byDigest)
	}
	return nil
}

func (f *buildFlags) readNetworking() error {
	if f.networking == "" {
		return nil
	}
	namespace, name, both := strings.Cut(f.networking, "/")
	if !both {
		namespace, name = v1alpha1.Namespace, f.networking
	}
	if namespace == "" || name == "" || strings.Contains(name, "/") {
		return errors.New("--networking must be NAME or NAMESPACE/NAME of a ConfigMap")
	}
	f.Networking = &v1alpha1.Networking{ConfigMap: v1alpha1.ConfigMapReference{Namespace: namespace, Name: name}}
	return nil
}
