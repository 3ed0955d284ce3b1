package prometheus

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"

	"github.com/prometheus/client_golang/api"
)

// maxAnswer bounds an answer, in bytes after decompression: some ten thousand samples, and no query takes all the memory.
const maxAnswer = 16 << 20

// connection is the api.Client of one request, with the authorities and the token as they are now.
type connection struct {
	api.Client
	secret secret
	close  func()
}

func connect(e Endpoint) (*connection, error) {
	token, err := readSecret(e.TokenFile)
	if err != nil {
		return nil, err
	}
	trust, err := trusting(e)
	if err != nil {
		return nil, err
	}
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment, TLSClientConfig: trust, TLSHandshakeTimeout: e.Timeout,
		DialContext: (&net.Dialer{Timeout: e.Timeout}).DialContext, DisableKeepAlives: true, MaxConnsPerHost: 1}
	client := &http.Client{Transport: &bearer{secret: token, next: transport}, CheckRedirect: refuseRedirect}
	c, err := api.NewClient(api.Config{Address: e.URL, Client: client})
	if err != nil {
		return nil, err
	}
	return &connection{Client: c, secret: token, close: transport.CloseIdleConnections}, nil
}

// trusting reads the authorities.
func trusting(e Endpoint) (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: e.ServerName, InsecureSkipVerify: e.InsecureSkipVerify}
	if e.CAFile == "" {
		return config, nil
	}
	pem, err := os.ReadFile(e.CAFile)
	if err != nil {
		return nil, fmt.Errorf("read the authorities that Prometheus's certificate may come from (CAFile: want a file of certificates in PEM): %w", err)
	}
	config.RootCAs = x509.NewCertPool()
	if !config.RootCAs.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("CAFile %s holds no certificate: want a file of certificates in PEM", e.CAFile)
	}
	return config, nil
}

// Do makes a request, and calls everything an error that is not an answer of Prometheus's API.
func (c *connection) Do(ctx context.Context, request *http.Request) (*http.Response, []byte, error) {
	response, body, err := c.Client.Do(ctx, request)
	if err != nil {
		return response, body, err
	}
	return response, body, judge(response.StatusCode, body, c.secret)
}

// redirectError is an answer that sends the client elsewhere.
type redirectError struct{ to string }

func (e *redirectError) Error() string { return "a redirect to " + e.to }

// refuseRedirect follows none: a request carries the token, and that is for the endpoint alone. Paths and queries of redirects may
// hold secrets, and stay out of the error.
func refuseRedirect(request *http.Request, _ []*http.Request) error {
	return &redirectError{to: (&url.URL{Scheme: request.URL.Scheme, Host: request.URL.Host}).String()}
}

// bearer sends the token along, and bounds the answer.
type bearer struct {
	secret secret
	next   http.RoundTripper
}

func (b *bearer) RoundTrip(request *http.Request) (*http.Response, error) {
	if b.secret.token != "" {
		request = request.Clone(request.Context())
		request.Header.Set("Authorization", "Bearer "+b.secret.token)
	}
	response, err := b.next.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	response.Body = http.MaxBytesReader(nil, response.Body, maxAnswer)
	return response, nil
}
