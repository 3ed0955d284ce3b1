package bed

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"k8s.io/client-go/rest"

	"refit.dev/refit/test/load"
)

// Clients are what may notice an upgrade: at the API endpoint with a fresh connection each time, at the API endpoint with
// kept connections, and at the application. Each sends 10 requests a second, without retries.
type Clients []*load.Running

// StartClients starts the clients.
func (b *Bed) StartClients(ctx context.Context) (Clients, error) {
	var out Clients
	for _, fresh := range []bool{true, false} {
		transport, err := apiTransport(b.Config)
		if err != nil {
			return nil, err
		}
		name := "API, kept"
		if fresh {
			name = "API, fresh"
		}
		out = append(out, load.Start(ctx, load.Client{Name: name, Fresh: fresh, Transport: transport,
			URL: b.Config.Host + "/api/v1/namespaces/default"}))
	}
	return append(out, load.Start(ctx, load.Client{Name: "application", URL: b.ApplicationURL()})), nil
}

// apiTransport is a plain HTTP/1.1 transport with the administrator's certificate: what most clients that are not written
// in Go use, and less forgiving than HTTP/2.
func apiTransport(config *rest.Config) (*http.Transport, error) {
	tls, err := rest.TLSConfigFor(config)
	if err != nil {
		return nil, fmt.Errorf("read the administrator's certificate: %w", err)
	}
	tls.NextProtos = []string{"http/1.1"}
	return &http.Transport{TLSClientConfig: tls}, nil
}

// Stop ends the clients.
func (c Clients) Stop() []load.Result {
	var out []load.Result
	for _, r := range c {
		out = append(out, r.Stop())
	}
	return out
}

// Describe is the results, a line each, with the first failures.
func Describe(results []load.Result) string {
	var s strings.Builder
	for _, r := range results {
		fmt.Fprintf(&s, "  %s\n", r)
		for i, f := range r.Failures {
			if i == 5 {
				break
			}
			fmt.Fprintf(&s, "      %s after %s: %s\n", f.At.Format("15:04:05.000"), f.Took.Round(1e6), f.Reason)
		}
	}
	return s.String()
}
