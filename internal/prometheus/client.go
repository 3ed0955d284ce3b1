// Package prometheus asks a Prometheus, or a Thanos, for firing alerts and for the results of queries. What was not answered in
// full is an error or says so: it must never read as healthy.
package prometheus

import (
	"context"
	"fmt"
	"time"

	v1 "github.com/prometheus/client_golang/api/prometheus/v1"
	"github.com/prometheus/common/model"
)

// atOnce is how many requests of one client are under way at the same time; more wait, within their Timeout.
const atOnce = 4

// Client asks one endpoint. It may be used by several goroutines, and holds nothing that would have to be closed: every request
// has a connection of its own, which ends with it.
type Client struct {
	endpoint Endpoint
	slots    chan struct{}
}

// New makes a client, and asks nothing yet. The error is that of Endpoint.Validate.
func New(e Endpoint) (*Client, error) {
	if err := e.Validate(); err != nil {
		return nil, fmt.Errorf("endpoint of Prometheus: %w", err)
	}
	if e.Timeout == 0 {
		e.Timeout = DefaultTimeout
	}
	return &Client{endpoint: e, slots: make(chan struct{}, atOnce)}, nil
}

// ask evaluates a query at the server's present moment, within the endpoint's Timeout. The warnings are Prometheus's.
func (c *Client) ask(ctx context.Context, promql string) (model.Value, []string, error) {
	within, cancel := context.WithTimeout(ctx, c.endpoint.Timeout)
	defer cancel()
	value, warnings, err := c.request(within, promql)
	switch {
	case err == nil:
		return value, warnings, nil
	case ctx.Err() != nil: // the caller's time is over, not the endpoint's
		return nil, nil, fmt.Errorf("ask %s: %w", c.endpoint.host(), ctx.Err())
	case within.Err() != nil:
		return nil, nil, fmt.Errorf("%s gave no answer within %s: see whether it is overloaded, or give it a longer timeout: %w",
			c.endpoint.host(), c.endpoint.Timeout, within.Err())
	}
	return nil, nil, c.explain(promql, err)
}

func (c *Client) request(ctx context.Context, promql string) (model.Value, []string, error) {
	select {
	case c.slots <- struct{}{}:
		defer func() { <-c.slots }()
	case <-ctx.Done():
		return nil, nil, ctx.Err()
	}
	conn, err := connect(c.endpoint)
	if err != nil {
		return nil, nil, err
	}
	defer conn.close()
	value, warnings, err := v1.NewAPI(conn).Query(ctx, promql, time.Time{})
	if err != nil {
		return nil, nil, err
	}
	for i := range warnings {
		warnings[i] = conn.secret.hide(warnings[i])
	}
	return value, warnings, nil
}
