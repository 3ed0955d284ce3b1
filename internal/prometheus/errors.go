package prometheus

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"

	v1 "github.com/prometheus/client_golang/api/prometheus/v1"
)

// QueryError is a query that Prometheus refuses, and always will: it has to be corrected.
type QueryError struct {
	// Query is what was asked.
	Query string
	// Message is Prometheus's.
	Message string
}

func (e *QueryError) Error() string {
	return fmt.Sprintf("Prometheus refuses the query %s, correct it: %s", e.Query, e.Message)
}

// PartialError is an answer with warnings, e.g. of a Thanos that did not reach all of its stores: what is missing is unknown.
type PartialError struct {
	// Warnings are those of the answer.
	Warnings []string
}

func (e *PartialError) Error() string {
	const most = 5
	quoted := make([]string, 0, most)
	for _, w := range e.Warnings[:min(most, len(e.Warnings))] {
		quoted = append(quoted, beginning(w))
	}
	text := "the answer may be incomplete, see to what it warns of: " + strings.Join(quoted, "; ")
	if more := len(e.Warnings) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// explain says what went wrong with a request, and what to do about it.
func (c *Client) explain(promql string, err error) error {
	var refused *v1.Error
	var strange *strangeError
	var words wordsError
	var redirect *redirectError
	var tooLarge *http.MaxBytesError
	if u := (*url.Error)(nil); errors.As(err, &u) {
		err = u.Err // without the address, which may hold the whole query
	}
	host := c.endpoint.host()
	switch {
	case errors.As(err, &refused):
		return refusal(promql, refused)
	case errors.As(err, &words):
		return &QueryError{Query: promql, Message: words.Error() + ", and a check needs a vector, a matrix or a scalar"}
	case errors.As(err, &strange):
		return c.outside(strange)
	case errors.As(err, &redirect):
		return fmt.Errorf("%s answers with %w, which is not followed, as the token is for %s alone: give the address that serves the API itself", host, redirect, host)
	case errors.As(err, &tooLarge):
		return fmt.Errorf("the answer to the query %s is larger than %d MiB: have it select less", promql, tooLarge.Limit>>20)
	}
	return c.unreached(err)
}

// refusal explains an error of the API.
func refusal(promql string, err *v1.Error) error {
	switch err.Type {
	case v1.ErrBadData:
		return &QueryError{Query: promql, Message: err.Msg}
	case v1.ErrTimeout, v1.ErrCanceled:
		return fmt.Errorf("Prometheus gave up on the query %s: have it select less, or see whether Prometheus is overloaded: %w", promql, err)
	}
	return fmt.Errorf("Prometheus could not evaluate the query %s: %w", promql, err)
}

// outside explains an answer that does not come from the API.
func (c *Client) outside(err *strangeError) error {
	host := c.endpoint.host()
	switch {
	case (err.status == http.StatusUnauthorized || err.status == http.StatusForbidden) && c.endpoint.TokenFile == "":
		return fmt.Errorf("%s wants a token: name a file that holds one in TokenFile: %w", host, err)
	case err.status == http.StatusUnauthorized:
		return fmt.Errorf("%s does not know the token in TokenFile %s, which may have expired, or be another cluster's: %w", host, c.endpoint.TokenFile, err)
	case err.status == http.StatusForbidden:
		return fmt.Errorf("%s knows the token, but its account may not read metrics: bind the right to it (on OpenShift: the cluster role "+
			"cluster-monitoring-view, to the service account): %w", host, err)
	case err.status == http.StatusNotFound || err.status/100 == 2:
		return fmt.Errorf("%s serves no Prometheus API below the given address: see to its host, port and path: %w", host, err)
	case err.status == http.StatusBadGateway || err.status == http.StatusServiceUnavailable || err.status == http.StatusGatewayTimeout:
		return fmt.Errorf("%s answers, but not Prometheus behind it: see whether its pods are Ready: %w", host, err)
	}
	return fmt.Errorf("%s does not answer as Prometheus does: %w", host, err)
}

// unreached explains what kept a request from getting to the server.
func (c *Client) unreached(err error) error {
	host := c.endpoint.host()
	var untrusted *tls.CertificateVerificationError
	var wrongName x509.HostnameError
	var network *net.OpError
	var plain tls.RecordHeaderError
	switch {
	case errors.As(err, &wrongName):
		return fmt.Errorf("the certificate of %s is for another name: ask it by that name, or give the name in ServerName: %w", host, err)
	case errors.As(err, &untrusted) && c.endpoint.CAFile == "":
		return fmt.Errorf("the certificate of %s is not trusted: name the file with its authority in CAFile: %w", host, err)
	case errors.As(err, &untrusted):
		return fmt.Errorf("the certificate of %s is not trusted: CAFile %s does not hold its authority, or it has expired: %w", host, c.endpoint.CAFile, err)
	case errors.As(err, &plain), errors.Is(err, http.ErrSchemeMismatch):
		return fmt.Errorf("%s does not speak TLS: give an address that begins with http://, or the port that does: %w", host, err)
	case errors.As(err, &network):
		return fmt.Errorf("%s cannot be reached: see to its address, and whether it runs and network policies let Refit through: %w", host, err)
	}
	return fmt.Errorf("ask %s: %w", host, err)
}
