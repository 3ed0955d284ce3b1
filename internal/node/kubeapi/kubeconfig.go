// Package kubeapi asks an API server a few things over plain HTTP, with the credentials of a kubeconfig of the host. It is here so
// that the steps on the host need no client library.
package kubeapi

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"sigs.k8s.io/yaml"
)

// The kubeconfigs that kubeadm writes.
const (
	AdminConf   = "/etc/kubernetes/admin.conf"
	KubeletConf = "/etc/kubernetes/kubelet.conf"
)

type kubeconfig struct {
	CurrentContext string `json:"current-context"`
	Contexts       []struct {
		Name    string `json:"name"`
		Context struct {
			Cluster string `json:"cluster"`
			User    string `json:"user"`
		} `json:"context"`
	} `json:"contexts"`
	Clusters []struct {
		Name    string `json:"name"`
		Cluster struct {
			Server string `json:"server"`
			CAData string `json:"certificate-authority-data"`
			CAFile string `json:"certificate-authority"`
		} `json:"cluster"`
	} `json:"clusters"`
	Users []struct {
		Name string `json:"name"`
		User struct {
			CertData string `json:"client-certificate-data"`
			KeyData  string `json:"client-key-data"`
			CertFile string `json:"client-certificate"`
			KeyFile  string `json:"client-key"`
		} `json:"user"`
	} `json:"users"`
}

// requestDeadline bounds one request whose context has no shorter one.
const requestDeadline = 15 * time.Second

// Client asks one API server.
type Client struct {
	// Server is its address, e.g. https://10.0.0.1:6443.
	Server string
	http   *http.Client
}

// Load makes a client of a kubeconfig of the host whose root folder is given. It takes client certificates only, which is what
// kubeadm writes.
func Load(root, path string) (*Client, error) {
	content, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		return nil, fmt.Errorf("read kubeconfig: %w", err)
	}
	var k kubeconfig
	if err := yaml.Unmarshal(content, &k); err != nil {
		return nil, fmt.Errorf("kubeconfig %s is not YAML of the expected form: %w", path, err)
	}
	c, err := k.client(root)
	if err != nil {
		return nil, fmt.Errorf("kubeconfig %s: %w", path, err)
	}
	return c, nil
}

func (k *kubeconfig) client(root string) (*Client, error) {
	cluster, user := "", ""
	for _, c := range k.Contexts {
		if c.Name == k.CurrentContext {
			cluster, user = c.Context.Cluster, c.Context.User
		}
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	server := ""
	for _, c := range k.Clusters {
		if c.Name != cluster {
			continue
		}
		ca, err := dataOrFile(root, c.Cluster.CAData, c.Cluster.CAFile)
		if err != nil {
			return nil, err
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(ca) {
			return nil, errors.New("its certificate authority is not a PEM certificate")
		}
		server = c.Cluster.Server
	}
	if server == "" {
		return nil, errors.New("its current context names no cluster with a server")
	}
	for _, u := range k.Users {
		if u.Name != user {
			continue
		}
		cert, err := dataOrFile(root, u.User.CertData, u.User.CertFile)
		if err != nil {
			return nil, err
		}
		key, err := dataOrFile(root, u.User.KeyData, u.User.KeyFile)
		if err != nil {
			return nil, err
		}
		pair, err := tls.X509KeyPair(cert, key)
		if err != nil {
			return nil, fmt.Errorf("its client certificate: %w", err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return New(server, config), nil
}

// New makes a client of its parts. Each request has a connection of its own, so none is sent over one that a restarting API server
// has left behind.
func New(server string, config *tls.Config) *Client {
	transport := &http.Transport{TLSClientConfig: config, DisableKeepAlives: true, TLSHandshakeTimeout: requestDeadline}
	return &Client{Server: server, http: &http.Client{Transport: transport, Timeout: requestDeadline}}
}

// At is a client of another API server with the same credentials.
func (c *Client) At(server string) *Client { return &Client{Server: server, http: c.http} }

func dataOrFile(root, data, file string) ([]byte, error) {
	if data != "" {
		return base64.StdEncoding.DecodeString(data)
	}
	if file == "" {
		return nil, errors.New("it names neither certificate data nor a file")
	}
	return os.ReadFile(filepath.Join(root, file))
}
