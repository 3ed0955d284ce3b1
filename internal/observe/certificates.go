package observe

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"

	"refit.dev/refit/internal/snapshot"
)

const (
	// annotationAPIServer is kubeadm's, on the API servers' static Pods.
	annotationAPIServer = "kubeadm.kubernetes.io/kube-apiserver.advertise-address.endpoint"
	dialTimeout         = 3 * time.Second
)

// apiServers are the addresses of the API servers, by node.
func apiServers(pods []corev1.Pod) map[string]string {
	addresses := map[string]string{}
	for i := range pods {
		p := &pods[i]
		if p.Labels[LabelComponent] == "kube-apiserver" && p.Annotations[annotationAPIServer] != "" {
			addresses[p.Spec.NodeName] = p.Annotations[annotationAPIServer]
		}
	}
	return addresses
}

type served struct{ node, name, address string }

// probeCertificates looks at the certificates that API servers and etcd members serve, and at the authorities. A server that does
// not answer is left out: other gates say that it is away.
func probeCertificates(ctx context.Context, config *rest.Config, etcd EtcdCertificates, pods []corev1.Pod) ([]snapshot.Certificate, error) {
	var all []served
	for node, address := range apiServers(pods) {
		all = append(all, served{node, "apiserver", address})
	}
	for node, u := range etcdURLs(pods) {
		if parsed, err := url.Parse(u); err == nil {
			all = append(all, served{node, "etcd-server", parsed.Host})
		}
	}
	certificates := authorities(config, etcd)
	errs := make([]error, len(all))
	found := make([]*snapshot.Certificate, len(all))
	var wg sync.WaitGroup
	for i, s := range all {
		wg.Go(func() { found[i], errs[i] = handshake(ctx, s) })
	}
	wg.Wait()
	for _, c := range found {
		if c != nil {
			certificates = append(certificates, *c)
		}
	}
	slices.SortFunc(certificates, func(a, b snapshot.Certificate) int { return strings.Compare(a.Node+"/"+a.Name, b.Node+"/"+b.Name) })
	if len(certificates) == 0 {
		return nil, errors.Join(append(errs, errors.New("no certificate was seen"))...)
	}
	return certificates, nil
}

// handshake begins a TLS connection only to look at the certificate: nothing is sent, so that it need not be trusted.
func handshake(ctx context.Context, s served) (*snapshot.Certificate, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	var leaf *x509.Certificate
	dialer := tls.Dialer{NetDialer: &net.Dialer{}, Config: &tls.Config{
		MinVersion:         tls.VersionTLS12,
		InsecureSkipVerify: true,
		VerifyConnection: func(state tls.ConnectionState) error {
			if len(state.PeerCertificates) > 0 {
				leaf = state.PeerCertificates[0]
			}
			return nil
		},
	}}
	conn, err := dialer.DialContext(ctx, "tcp", s.address)
	if leaf != nil { // etcd may refuse the rest of the handshake
		err = nil
	}
	if conn != nil {
		err = errors.Join(err, conn.Close())
	}
	if leaf == nil {
		return nil, fmt.Errorf("look at the certificate of %s on %s: %w", s.name, s.node, err)
	}
	return &snapshot.Certificate{Node: s.node, Name: s.name, NotAfter: leaf.NotAfter}, nil
}

func authorities(config *rest.Config, etcd EtcdCertificates) []snapshot.Certificate {
	ca := config.CAData
	if len(ca) == 0 && config.CAFile != "" {
		ca, _ = os.ReadFile(config.CAFile)
	}
	out := fromPEM("ca", ca)
	if etcd != "" {
		pem, _ := os.ReadFile(filepath.Join(string(etcd), "ca.crt"))
		out = append(out, fromPEM("etcd-ca", pem)...)
	}
	return out
}

func fromPEM(name string, data []byte) []snapshot.Certificate {
	var out []snapshot.Certificate
	for block, rest := pem.Decode(data); block != nil; block, rest = pem.Decode(rest) {
		if cert, err := x509.ParseCertificate(block.Bytes); err == nil {
			out = append(out, snapshot.Certificate{Name: name, NotAfter: cert.NotAfter, Authority: true})
		}
	}
	return out
}
