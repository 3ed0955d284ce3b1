// Package kubeadm writes the configuration files that kubeadm makes a lab's cluster from.
package kubeadm

import (
	"crypto/sha256"
	"crypto/x509"
	"embed"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"text/template"
)

//go:embed files
var files embed.FS

var pages = template.Must(template.ParseFS(files, "files/*.yaml"))

// Argument is one flag of a control-plane component.
type Argument struct{ Name, Value string }

// Cluster is what all nodes share.
type Cluster struct {
	// Lab is the lab's name, and the cluster's.
	Lab string
	// Version is the Kubernetes version.
	Version string
	// Endpoint is host:port of the load balancer.
	Endpoint string
	// Token lets nodes join; CertificateKey unlocks the certificates for further control planes.
	Token, CertificateKey string
	// Pods and Services are address ranges.
	Pods, Services netip.Prefix
	// APIServerArgs and EtcdArgs are flags beyond kubeadm's own.
	APIServerArgs, EtcdArgs []Argument
	// CgroupDriver is cgroupfs or systemd.
	CgroupDriver string
	// ResolvConf is the path of the name servers that pods use beyond the cluster's own.
	ResolvConf string
}

// Node is one node.
type Node struct {
	// Name is the node's name.
	Name string
	// Address is its own.
	Address netip.Addr
	// ControlPlane makes it one.
	ControlPlane bool
	// NoTaints lets ordinary pods run on a control plane.
	NoTaints bool
	// CAHash is the hash of the cluster's CA certificate, for joins.
	CAHash string
}

// Init renders the configuration for `kubeadm init` on the first control plane.
func Init(c Cluster, n Node) (string, error) { return render("cluster.yaml", c, n) }

// Join renders the configuration for `kubeadm join`.
func Join(c Cluster, n Node) (string, error) { return render("join.yaml", c, n) }

func render(page string, c Cluster, n Node) (string, error) {
	var out strings.Builder
	err := pages.ExecuteTemplate(&out, page, struct {
		Cluster
		Node
	}{c, n})
	if err != nil {
		return "", fmt.Errorf("render kubeadm's configuration of %s: %w", n.Name, err)
	}
	return out.String(), nil
}

// CAHash is the hash of a CA certificate in PEM, as kubeadm join wants it.
func CAHash(certificate string) (string, error) {
	block, _ := pem.Decode([]byte(certificate))
	if block == nil {
		return "", errors.New("the cluster's CA certificate is not in PEM")
	}
	parsed, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return "", fmt.Errorf("read the cluster's CA certificate: %w", err)
	}
	sum := sha256.Sum256(parsed.RawSubjectPublicKeyInfo)
	return "sha256:" + hex.EncodeToString(sum[:]), nil
}
