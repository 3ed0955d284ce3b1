package kubeapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// maxBody bounds what is read of an answer.
const maxBody = 16 << 20

// Get returns the body of a GET that was answered with 200.
func (c *Client) Get(ctx context.Context, path string) ([]byte, error) {
	body, _, err := c.do(ctx, http.MethodGet, path, "")
	return body, err
}

// Put sends a small text.
func (c *Client) Put(ctx context.Context, path, body string) error {
	_, _, err := c.do(ctx, http.MethodPut, path, body)
	return err
}

// GetJSON reads the JSON of a GET into a value.
func (c *Client) GetJSON(ctx context.Context, path string, into any) error {
	body, err := c.Get(ctx, path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(body, into); err != nil {
		return fmt.Errorf("answer to %s%s: %w", c.Server, path, err)
	}
	return nil
}

// Now is the API server's clock, to the second.
func (c *Client) Now(ctx context.Context) (time.Time, error) {
	_, header, err := c.do(ctx, http.MethodGet, "/readyz", "")
	if header == nil {
		return time.Time{}, err
	}
	return http.ParseTime(header.Get("Date"))
}

func (c *Client) do(ctx context.Context, method, path, body string) ([]byte, http.Header, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.Server+path, strings.NewReader(body))
	if err != nil {
		return nil, nil, err
	}
	res, err := c.http.Do(req)
	if err != nil {
		return nil, nil, fmt.Errorf("%s %s: %w", method, path, err)
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(res.Body, maxBody))
	if err != nil {
		return nil, res.Header, fmt.Errorf("%s %s: read the answer: %w", method, path, err)
	}
	if res.StatusCode != http.StatusOK {
		return answer, res.Header, &StatusError{Method: method, URL: c.Server + path, Code: res.StatusCode, Body: string(answer)}
	}
	return answer, res.Header, nil
}

// StatusError is an answer other than 200.
type StatusError struct {
	Method, URL, Body string
	Code              int
}

// Error quotes the beginning of the answer; of a health check, the parts that failed.
func (e *StatusError) Error() string {
	text := e.Body
	if failed := failedChecks(text); failed != "" {
		text = failed
	}
	if len(text) > 300 {
		text = text[:300] + "…"
	}
	return fmt.Sprintf("%s %s: answered %d: %s", e.Method, e.URL, e.Code, strings.TrimSpace(text))
}

// failedChecks picks the lines of a verbose health check that name a failed part: "[-]etcd failed: reason withheld".
func failedChecks(body string) string {
	var failed []string
	for line := range strings.Lines(body) {
		if strings.HasPrefix(line, "[-]") {
			failed = append(failed, strings.TrimSpace(line[3:]))
		}
	}
	return strings.Join(failed, ", ")
}

// Stream returns the body of a GET that was answered with 200, for an answer that is too large to be kept. The caller closes it.
func (c *Client) Stream(ctx context.Context, path string) (io.ReadCloser, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.Server+path, nil)
	if err != nil {
		return nil, err
	}
	res, err := c.http.Do(req)
	if err != nil {
		return nil, fmt.Errorf("GET %s: %w", path, err)
	}
	if res.StatusCode != http.StatusOK {
		return nil, errors.Join(&StatusError{Method: http.MethodGet, URL: c.Server + path, Code: res.StatusCode}, res.Body.Close())
	}
	return res.Body, nil
}
