package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/utils/ptr"

	"refit.dev/refit/api/v1alpha1"
)

// serviceAccount is the one that the manager is installed with.
const serviceAccount = "refit-manager"

// manager is one of the two, with the proxy that it talks through.
type manager struct {
	*process
	proxy *proxy
	// metrics and profile are addresses; profile is empty where none is served.
	metrics, profile string
}

// startManager starts a manager with a token of its service account, and so with the rights that it is installed with.
func (c *cluster) startManager(ctx context.Context, s settings, program, name string) (_ *manager, err error) {
	token, err := c.token(ctx)
	if err != nil {
		return nil, err
	}
	m := &manager{}
	if m.proxy, err = startProxy(c.config); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, m.proxy.stop())
		}
	}()
	kubeconfig := filepath.Join(c.dir, name+".kubeconfig")
	if err := writeKubeconfig(kubeconfig, m.proxy.address, m.proxy.authority, token); err != nil {
		return nil, err
	}
	if m.metrics, err = freeAddress(); err != nil {
		return nil, err
	}
	none := filepath.Join(c.dir, "none")
	args := []string{"--kubeconfig=" + kubeconfig, "--leader-elect", "--metrics-bind-address=" + m.metrics, "--health-probe-bind-address=0",
		"--etcd-certs-dir=" + none, "--prometheus-dir=" + none}
	if s.profile {
		if m.profile, err = freeAddress(); err != nil {
			return nil, err
		}
		args = append(args, "--profile-bind-address="+m.profile)
	}
	m.process, err = startProcess(c.dir, name, program, args...)
	return m, err
}

func (m *manager) stop() error { return errors.Join(m.process.stop(), m.proxy.stop()) }

func (c *cluster) token(ctx context.Context) (string, error) {
	ask := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: ptr.To(int64(24 * time.Hour / time.Second))}}
	got, err := c.typed.CoreV1().ServiceAccounts(v1alpha1.Namespace).CreateToken(ctx, serviceAccount, ask, metav1.CreateOptions{})
	if err != nil {
		return "", fmt.Errorf("get a token of ServiceAccount %s: %w", serviceAccount, err)
	}
	return got.Status.Token, nil
}

func writeKubeconfig(file, server string, authority []byte, token string) error {
	const name = "sim"
	config := clientcmdapi.NewConfig()
	config.Clusters[name] = &clientcmdapi.Cluster{Server: server, CertificateAuthorityData: authority}
	config.AuthInfos[name] = &clientcmdapi.AuthInfo{Token: token}
	config.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name}
	config.CurrentContext = name
	if err := clientcmd.WriteToFile(*config, file); err != nil {
		return fmt.Errorf("write a manager's kubeconfig: %w", err)
	}
	return nil
}

// freeAddress is one on the loopback interface that nothing listens at just now.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("find a free port: %w", err)
	}
	return l.Addr().String(), l.Close()
}

// answering bounds how long a manager may take to say its metrics: one that hangs must not hold the simulation up.
const answering = 10 * time.Second

// scrape reads the metrics of the manager.
func (m *manager) scrape(ctx context.Context) (samples, error) {
	ctx, cancel := context.WithTimeout(ctx, answering)
	defer cancel()
	body, err := get(ctx, "http://"+m.metrics+"/metrics")
	if err != nil {
		return nil, fmt.Errorf("read the metrics of %s: %w", m.name, err)
	}
	return parseSamples(body), nil
}

// leads says whether it is the leader.
func (m *manager) leads(ctx context.Context) bool {
	all, err := m.scrape(ctx)
	return err == nil && all.sum("leader_election_master_status", nil) == 1
}

// keepProfiles writes profiles of the manager into a folder.
func (m *manager) keepProfiles(ctx context.Context, dir string) error {
	for name, path := range map[string]string{"heap": "heap?gc=1", "allocs": "allocs", "cpu": "profile?seconds=15"} {
		body, err := get(ctx, "http://"+m.profile+"/debug/pprof/"+path)
		if err != nil {
			return fmt.Errorf("take the %s profile of %s: %w", name, m.name, err)
		}
		if err := os.WriteFile(filepath.Join(dir, m.name+"-"+name+".prof"), body, 0o600); err != nil {
			return err
		}
	}
	return nil
}

func get(ctx context.Context, url string) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return nil, err
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answers %s", url, answer.Status)
	}
	return io.ReadAll(answer.Body)
}
