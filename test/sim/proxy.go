package main

import (
	"crypto/tls"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/cert"
)

// proxy stands between one manager and the API server, passes everything through, and counts.
type proxy struct {
	address string
	// authority is the certificate to be trusted.
	authority  []byte
	server     *http.Server
	watchBytes atomic.Int64
	readBytes  atomic.Int64

	mu     sync.Mutex
	counts map[request]int
	// flows counts responses by the UID of the FlowSchema that the API server sorted the request into.
	flows map[string]int
	// first is when the first request since the mark came that changes something other than a lease or an event.
	first time.Time
	mark  bool
}

func startProxy(config *rest.Config) (*proxy, error) {
	target, err := url.Parse(config.Host)
	if err != nil {
		return nil, fmt.Errorf("read the address of the API server: %w", err)
	}
	// Whoever calls brings his own token; the administrator's certificate stays here.
	upstream, err := rest.TransportFor(&rest.Config{Host: config.Host, TLSClientConfig: rest.TLSClientConfig{CAData: config.CAData}})
	if err != nil {
		return nil, fmt.Errorf("make the way to the API server: %w", err)
	}
	certificate, key, err := cert.GenerateSelfSignedCertKey("127.0.0.1", []net.IP{net.IPv4(127, 0, 0, 1)}, nil)
	if err != nil {
		return nil, fmt.Errorf("make the proxy's certificate: %w", err)
	}
	pair, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for a manager: %w", err)
	}
	p := &proxy{address: "https://" + listener.Addr().String(), authority: certificate, counts: map[request]int{}, flows: map[string]int{}}
	forward := &httputil.ReverseProxy{
		Rewrite:        func(r *httputil.ProxyRequest) { r.SetURL(target) },
		Transport:      upstream,
		FlushInterval:  -1, // watches go through at once
		ModifyResponse: p.flow,
		ErrorHandler:   func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
	}
	p.server = &http.Server{Handler: p.counting(forward), TLSConfig: &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}, ReadHeaderTimeout: time.Minute}
	go func() { _ = p.server.ServeTLS(listener, "", "") }() // it ends when the server is closed
	return p, nil
}

func (p *proxy) stop() error { return p.server.Close() }

// counting notes a request when it comes, and the bytes of its answer as they go.
func (p *proxy) counting(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		q := classify(r.Method, r.URL)
		bytes := &p.readBytes
		if q.Verb == "watch" {
			bytes = &p.watchBytes
		}
		p.note(q)
		next.ServeHTTP(&counter{ResponseWriter: w, bytes: bytes}, r)
	})
}

func (p *proxy) note(q request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.counts[q]++
	if p.mark && p.first.IsZero() && q.writes() && q.Resource != "leases" && q.Resource != "events" {
		p.first = time.Now()
	}
}

func (p *proxy) flow(r *http.Response) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.flows[r.Header.Get("X-Kubernetes-Pf-Flowschema-Uid")]++
	return nil
}

// watchForWrite has the time of the next write noted.
func (p *proxy) watchForWrite() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mark = true
}

func (p *proxy) firstWrite() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.first
}

func (p *proxy) requests() (counts map[request]int, flows map[string]int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return maps.Clone(p.counts), maps.Clone(p.flows)
}

// counter counts the bytes of an answer.
type counter struct {
	http.ResponseWriter
	bytes *atomic.Int64
}

func (c *counter) Write(b []byte) (int, error) {
	n, err := c.ResponseWriter.Write(b)
	c.bytes.Add(int64(n))
	return n, err
}

// Unwrap is how the proxy finds what flushes.
func (c *counter) Unwrap() http.ResponseWriter { return c.ResponseWriter }
