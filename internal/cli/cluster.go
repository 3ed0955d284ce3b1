package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"refit.dev/refit/api/managedupgrade/v1beta1"
	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/buildinfo"
	"refit.dev/refit/internal/paging"
	"refit.dev/refit/internal/target/openshift"
)

func newScheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		return nil, fmt.Errorf("register Kubernetes' kinds: %w", err)
	}
	for _, add := range []func(*runtime.Scheme) error{v1alpha1.AddToScheme, v1beta1.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, fmt.Errorf("register Refit's kinds: %w", err)
		}
	}
	if err := openshift.AddToScheme(scheme); err != nil {
		return nil, fmt.Errorf("register OpenShift's kinds: %w", err)
	}
	return scheme, nil
}

func (a *app) restConfig() (*rest.Config, error) {
	config, err := a.config.rest()
	if errors.Is(err, clientcmd.ErrEmptyConfig) || clientcmd.IsEmptyConfig(err) {
		return nil, a.config.missing()
	}
	if err != nil {
		return nil, fmt.Errorf("read the kubeconfig: %w", err)
	}
	config = rest.CopyConfig(config)
	config.UserAgent = "refit/" + buildinfo.Version
	config.QPS, config.Burst = 50, 100
	return config, nil
}

// connect gives a client of the cluster.
func (a *app) connect() (client.WithWatch, error) {
	config, err := a.restConfig()
	if err != nil {
		return nil, err
	}
	scheme, err := newScheme()
	if err != nil {
		return nil, err
	}
	c, err := client.NewWithWatch(config, client.Options{Scheme: scheme})
	if err != nil {
		return nil, fmt.Errorf("connect to the cluster: %w", err)
	}
	return paging.Client{WithWatch: c}, nil
}

// listUpgrades gives the KubernetesUpgrades, the newest first.
func listUpgrades(ctx context.Context, c client.Reader) ([]v1alpha1.KubernetesUpgrade, error) {
	var list v1alpha1.KubernetesUpgradeList
	if err := c.List(ctx, &list); err != nil {
		return nil, fmt.Errorf("list upgrades: %w", err)
	}
	slices.SortStableFunc(list.Items, func(a, b v1alpha1.KubernetesUpgrade) int {
		return b.CreationTimestamp.Compare(a.CreationTimestamp.Time)
	})
	return list.Items, nil
}

// unfinished is the upgrade that is under way, nil where there is none.
func unfinished(upgrades []v1alpha1.KubernetesUpgrade) *v1alpha1.KubernetesUpgrade {
	for i := range upgrades {
		if !upgrades[i].Finished() {
			return &upgrades[i]
		}
	}
	return nil
}

// findUpgrade is the upgrade of that name; without a name the one under way, or else the latest; nil where there never was
// one.
func findUpgrade(ctx context.Context, c client.Reader, name string) (*v1alpha1.KubernetesUpgrade, error) {
	upgrades, err := listUpgrades(ctx, c)
	if err != nil {
		return nil, err
	}
	for i := range upgrades {
		if upgrades[i].Name == name {
			return &upgrades[i], nil
		}
	}
	switch {
	case name != "":
		return nil, unknownUpgrade(name, upgradeNamesOf(upgrades))
	case len(upgrades) == 0:
		return nil, nil
	}
	if u := unfinished(upgrades); u != nil {
		return u, nil
	}
	return &upgrades[0], nil
}

// mostNames of a list are named in a message; the rest is counted.
const mostNames = 10

// unknownUpgrade says which upgrades there are, the newest first.
func unknownUpgrade(name string, names []string) error {
	if len(names) == 0 {
		return fmt.Errorf("there is no upgrade %q: none has been started here yet", name)
	}
	close, more := suggest(name, names), ""
	if len(names) > mostNames {
		names, more = names[:mostNames], fmt.Sprintf(" and %d older ones", len(names)-mostNames)
	}
	return fmt.Errorf("there is no upgrade %q%s; upgrades are %s%s", name, close, strings.Join(names, ", "), more)
}

// notEnded says that an upgrade is in the way, and how it comes to an end.
func notEnded(u *v1alpha1.KubernetesUpgrade) error {
	how := "wait until it has, or end it with `refit abort`"
	if u.Status.State == v1alpha1.StateUpgradeFailed {
		how = "go on with it by `refit resume`, or end it with `refit abort`"
	}
	return fmt.Errorf("upgrade %s to %s has not ended (%s): see `refit status`; %s", u.Name, u.Spec.ToVersion, stateOf(u), how)
}
