package prometheus_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"refit.dev/refit/internal/prometheus"
)

// authority is a private one, with a certificate that it signed for 127.0.0.1 and thanos-querier.
type authority struct {
	pem  []byte
	cert tls.Certificate
}

func newAuthority(g Gomega, until time.Time) *authority {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	g.Expect(err).NotTo(HaveOccurred())
	since := until.Add(-24 * time.Hour)
	ca := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "service-signer"}, NotBefore: since, NotAfter: until,
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	der, err := x509.CreateCertificate(rand.Reader, ca, ca, &key.PublicKey, key)
	g.Expect(err).NotTo(HaveOccurred())
	leaf := &x509.Certificate{SerialNumber: big.NewInt(2), DNSNames: []string{"thanos-querier"}, NotBefore: since, NotAfter: until,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
	signed, err := x509.CreateCertificate(rand.Reader, leaf, ca, &key.PublicKey, key)
	g.Expect(err).NotTo(HaveOccurred())
	return &authority{pem: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		cert: tls.Certificate{Certificate: [][]byte{signed}, PrivateKey: key}}
}

// front stands before a real Prometheus as OpenShift's kube-rbac-proxy does: it wants a token, and has a certificate of a private
// authority.
type front struct {
	*httptest.Server
	cert  atomic.Pointer[tls.Certificate]
	token atomic.Pointer[string]
	// getOnly refuses POST, as the proxy does for accounts that may get, but not create.
	getOnly atomic.Bool
}

func newFront(t *testing.T, behind string) *front {
	t.Helper()
	g := NewWithT(t)
	u, err := url.Parse(behind)
	g.Expect(err).NotTo(HaveOccurred())
	f := &front{}
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(u) }}
	f.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent := r.Header.Get("Authorization")
		switch {
		case sent != "Bearer "+*f.token.Load():
			http.Error(w, "Unauthorized: "+sent, http.StatusUnauthorized) // it repeats the token, which it should not
		case f.getOnly.Load() && r.Method != http.MethodGet:
			http.Error(w, "Forbidden (verb=create)", http.StatusForbidden)
		default:
			proxy.ServeHTTP(w, r)
		}
	}))
	f.Config.ErrorLog = log.New(io.Discard, "", 0)
	f.TLS = &tls.Config{GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
		return &tls.Config{Certificates: []tls.Certificate{*f.cert.Load()}}, nil
	}}
	f.cert.Store(&newAuthority(g, time.Now().Add(time.Hour)).cert)
	f.StartTLS()
	t.Cleanup(f.Close)
	return f
}

// trust gives the front a certificate of a new authority, and writes that to a file.
func (f *front) trust(g Gomega, file string) {
	a := newAuthority(g, time.Now().Add(time.Hour))
	f.cert.Store(&a.cert)
	g.Expect(os.WriteFile(file, a.pem, 0o600)).To(Succeed())
}

// admit has the front want a token.
func (f *front) admit(token string) { f.token.Store(&token) }

// files are those of an endpoint.
type files struct{ ca, token string }

func newFiles(t *testing.T) files {
	dir := t.TempDir()
	return files{ca: filepath.Join(dir, "service-ca.crt"), token: filepath.Join(dir, "token")}
}

func (f files) write(g Gomega, token string) {
	g.Expect(os.WriteFile(f.token, []byte(token+"\n"), 0o600)).To(Succeed())
}

func newClient(g Gomega, e prometheus.Endpoint) *prometheus.Client {
	c, err := prometheus.New(e)
	g.Expect(err).NotTo(HaveOccurred())
	return c
}
