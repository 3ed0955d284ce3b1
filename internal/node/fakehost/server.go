package fakehost

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"refit.dev/refit/internal/node/staticpod"
)

// pair is a certificate that signs itself and serves both sides, in PEM.
type pair struct{ cert, key []byte }

func newPair(t testing.TB, address net.IP) pair {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "system:node:" + NodeName},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(365 * 24 * time.Hour), IsCA: true, BasicConstraintsValid: true,
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}, IPAddresses: []net.IP{address}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return pair{cert: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		key: pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER})}
}

// server answers at one address for as long as it is on.
type server struct {
	mu      sync.Mutex
	t       testing.TB
	address string
	config  *tls.Config
	handler http.HandlerFunc
	running *http.Server
	// ended is closed once running has given its address back.
	ended chan struct{}
}

// ownAddress is a loopback address of this test's own, so that its servers can have the same ports in every test. A port that is free
// now could be another's a moment later, when the server is to listen again: theirs are none that the kernel gives out.
func ownAddress(t testing.TB) net.IP {
	t.Helper()
	b := make([]byte, 3)
	if _, err := rand.Read(b); err != nil {
		t.Fatal(err)
	}
	return net.IPv4(127, 1+b[0]%250, 1+b[1]%250, 1+b[2]%250)
}

func newServer(t testing.TB, p pair, at net.IP, port int, handler http.HandlerFunc) *server {
	t.Helper()
	cert, err := tls.X509KeyPair(p.cert, p.key)
	if err != nil {
		t.Fatal(err)
	}
	address := net.JoinHostPort(at.String(), strconv.Itoa(port))
	s := &server{t: t, address: address, handler: handler, config: &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12}}
	t.Cleanup(func() { s.set(false) })
	return s
}

func (s *server) set(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case on && s.running == nil:
		listener, err := net.Listen("tcp", s.address)
		if err != nil {
			s.t.Errorf("listen again: %v", err)
			return
		}
		s.running = &http.Server{Handler: s.handler, ReadHeaderTimeout: time.Second, ErrorLog: log.New(io.Discard, "", 0)}
		s.ended = make(chan struct{})
		go func(server *http.Server, ended chan<- struct{}) {
			defer close(ended)
			// It ends with an error when it is closed.
			_ = server.Serve(tls.NewListener(listener, s.config))
		}(s.running, s.ended)
	case !on && s.running != nil:
		if err := s.running.Close(); err != nil {
			s.t.Errorf("close: %v", err)
		}
		// A server that is closed before it serves closes its listener only then.
		<-s.ended
		s.running = nil
	}
}

func (h *Host) serveEtcd(w http.ResponseWriter, _ *http.Request) {
	fmt.Fprint(w, `{"health":"true"}`)
}

// SlowMetrics is what the API server's metrics say of its requests.
const metricsText = `process_start_time_seconds 1000
apiserver_request_duration_seconds_bucket{verb="GET",le="0.1"} 90
apiserver_request_duration_seconds_bucket{verb="GET",le="1"} 100
apiserver_request_duration_seconds_bucket{verb="GET",le="60"} 100
apiserver_request_duration_seconds_bucket{verb="GET",le="+Inf"} 100
apiserver_request_duration_seconds_bucket{verb="WATCH",le="60"} 0
apiserver_request_duration_seconds_bucket{verb="WATCH",le="+Inf"} 7
`

func (h *Host) serveAPI(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Date", h.Clock.Now().Add(h.Skew).UTC().Format(http.TimeFormat))
	switch {
	case r.URL.Path == "/readyz" && h.Runtime.Running(staticpod.Etcd) == "":
		http.Error(w, "[-]etcd failed: reason withheld", http.StatusInternalServerError)
	case r.URL.Path == "/readyz":
		fmt.Fprint(w, "ok")
	case r.URL.Path == "/metrics":
		fmt.Fprint(w, metricsText)
	case strings.HasSuffix(r.URL.Path, "/configmaps/kubeadm-config"):
		version := strings.TrimSpace(h.Read("/cluster-version"))
		config := fmt.Sprintf("apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\nkubernetesVersion: %s\n", version)
		answer, err := json.Marshal(map[string]any{"data": map[string]string{"ClusterConfiguration": config}})
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		if _, err := w.Write(answer); err != nil {
			return // the client is gone
		}
	default:
		http.NotFound(w, r)
	}
}
