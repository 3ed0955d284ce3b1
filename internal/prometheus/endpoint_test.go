package prometheus_test

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"refit.dev/refit/internal/prometheus"
)

func TestAnEndpointThatCannotWorkNamesTheFieldAndTheRemedy(t *testing.T) {
	const https = "https://prometheus.monitoring.svc:9090"
	for name, test := range map[string]struct {
		e       prometheus.Endpoint
		message string
	}{
		"no address":                   {prometheus.Endpoint{}, "URL is empty"},
		"a host without a scheme":      {prometheus.Endpoint{URL: "prometheus:9090"}, "begins with http:// or https://"},
		"another scheme":               {prometheus.Endpoint{URL: "ftp://prometheus"}, "begins with http:// or https://"},
		"no host":                      {prometheus.Endpoint{URL: "https:///api"}, "names a host"},
		"no address at all":            {prometheus.Endpoint{URL: "https://user:hunter2@host:port"}, "URL is not an address"},
		"a password":                   {prometheus.Endpoint{URL: "https://user:hunter2@host"}, "TokenFile"},
		"a query":                      {prometheus.Endpoint{URL: https + "/?a=b"}, "follows the ?"},
		"a token over plain http":      {prometheus.Endpoint{URL: "http://prometheus.monitoring.svc:9090", TokenFile: "token"}, "use https://"},
		"authorities over plain http":  {prometheus.Endpoint{URL: "http://127.0.0.1:9090", CAFile: "ca.crt"}, "CAFile"},
		"authorities and any":          {prometheus.Endpoint{URL: https, CAFile: "ca.crt", InsecureSkipVerify: true}, "InsecureSkipVerify"},
		"a time that is over at start": {prometheus.Endpoint{URL: https, Timeout: -time.Second}, "Timeout is -1s"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			_, err := prometheus.New(test.e)
			g.Expect(err).To(MatchError(And(ContainSubstring(test.message), Not(ContainSubstring("hunter2")))))
			g.Expect(test.e.Validate()).NotTo(Succeed())
		})
	}
}

func TestEndpointsThatWorkAreAccepted(t *testing.T) {
	for name, e := range map[string]prometheus.Endpoint{
		"OpenShift's":                  prometheus.OpenShift(),
		"one without authentication":   {URL: "http://prometheus.monitoring.svc:9090"},
		"one below a path":             {URL: "https://example.com/prometheus/", Timeout: time.Second},
		"a token on the same machine":  {URL: "http://localhost:9090", TokenFile: "token"},
		"a token on the same machine6": {URL: "http://[::1]:9090", TokenFile: "token"},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(e.Validate()).To(Succeed())
		})
	}
}
