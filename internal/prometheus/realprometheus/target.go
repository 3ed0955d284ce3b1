package realprometheus

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync/atomic"
	"testing"
)

// Target is something that Prometheus scrapes.
type Target struct {
	server  *httptest.Server
	metrics atomic.Pointer[string]
}

// NewTarget serves metrics, in Prometheus's text format, until the end of the test.
func NewTarget(t testing.TB, metrics string) *Target {
	t.Helper()
	target := &Target{}
	target.Set(metrics)
	target.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		text := target.metrics.Load()
		if text == nil {
			http.Error(w, "down", http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("Content-Type", "text/plain; version=0.0.4")
		fmt.Fprintln(w, *text)
	}))
	t.Cleanup(target.server.Close)
	return target
}

// Set changes the metrics, and mends what Break broke.
func (t *Target) Set(metrics string) { t.metrics.Store(&metrics) }

// Break makes every scrape fail, so that the target's up is 0.
func (t *Target) Break() { t.metrics.Store(nil) }

// URL is the address for Start. labels are those of the target, as name and value in turn; job and instance may be among them.
func (t *Target) URL(labels ...string) string {
	query := url.Values{}
	for i := 0; i+1 < len(labels); i += 2 {
		query.Set(labels[i], labels[i+1])
	}
	return t.server.URL + "?" + query.Encode()
}
