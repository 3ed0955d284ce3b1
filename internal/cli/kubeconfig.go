package cli

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// kubeconfig finds the cluster as kubectl does: flags, KUBECONFIG, ~/.kube/config, a pod's own account.
type kubeconfig struct {
	rules     *clientcmd.ClientConfigLoadingRules
	overrides *clientcmd.ConfigOverrides
}

func newKubeconfig() *kubeconfig {
	return &kubeconfig{rules: clientcmd.NewDefaultClientConfigLoadingRules(), overrides: &clientcmd.ConfigOverrides{}}
}

func (k *kubeconfig) addFlags(flags *pflag.FlagSet) {
	flags.StringVar(&k.rules.ExplicitPath, "kubeconfig", "", "kubeconfig to use (default: KUBECONFIG, or ~/.kube/config)")
	flags.StringVar(&k.overrides.CurrentContext, "context", "", "context of the kubeconfig to use")
	flags.StringVar(&k.overrides.Context.Cluster, "cluster", "", "cluster of the kubeconfig to use")
	flags.StringVar(&k.overrides.Context.AuthInfo, "user", "", "user of the kubeconfig to be")
	flags.StringVarP(&k.overrides.ClusterInfo.Server, "server", "s", "", "address of the API server")
	flags.StringVar(&k.overrides.AuthInfo.Token, "token", "", "bearer token for the API server")
	flags.StringVar(&k.overrides.AuthInfo.Impersonate, "as", "", "user to act as")
	flags.StringArrayVar(&k.overrides.AuthInfo.ImpersonateGroups, "as-group", nil, "group to act as a member of")
}

func (k *kubeconfig) rest() (*rest.Config, error) {
	return clientcmd.NewNonInteractiveDeferredLoadingClientConfig(k.rules, k.overrides).ClientConfig()
}

// missing says that there is no cluster to talk to, and what to do.
func (k *kubeconfig) missing() error {
	if named := os.Getenv(clientcmd.RecommendedConfigPathEnvVar); named != "" {
		return fmt.Errorf("there is no kubeconfig: KUBECONFIG names %s, which does not exist or is empty", named)
	}
	return errors.New("there is no kubeconfig: pass --kubeconfig FILE, or set KUBECONFIG (kubeadm leaves one in /etc/kubernetes/admin.conf)")
}
