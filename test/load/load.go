// Package load sends requests at a steady rate, without retries, and counts what a client saw.
package load

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"
)

// requestTimeout is after what time a client gives a request up. It is a failure then.
const requestTimeout = 10 * time.Second

// failuresKept is how many failures a result holds with their reason.
const failuresKept = 20

// Client asks one URL again and again.
type Client struct {
	// Name of the client in results.
	Name string
	// URL to ask.
	URL string
	// Interval between two requests, also when one takes longer. Default 100 ms, 10 requests a second.
	Interval time.Duration
	// Fresh opens a new connection for each request.
	Fresh bool
	// Transport carries the requests: TLS and credentials. Its keep-alives are set by Fresh.
	Transport *http.Transport
	// Header is added to each request.
	Header http.Header
}

// Failure is a request that was not answered with 200.
type Failure struct {
	// At is when the request was sent.
	At time.Time
	// Took is until it failed.
	Took time.Duration
	// Reason it failed for.
	Reason string
}

// Result is what a client saw.
type Result struct {
	// Name of the client.
	Name string
	// Sent and Failed count requests.
	Sent, Failed int
	// Failures are the first failures.
	Failures []Failure
	// Longest is the longest answered request.
	Longest time.Duration
	// Silence is the time in which no request was answered: for each run of failures, from the first one's start to the
	// next answer.
	Silence time.Duration
}

// String sums the result up on a line.
func (r Result) String() string {
	return fmt.Sprintf("%-16s %6d requests, %d failed, %s without an answer, longest %s", r.Name, r.Sent, r.Failed,
		r.Silence.Round(100*time.Millisecond), r.Longest.Round(time.Millisecond))
}

// Running is a client at work.
type Running struct {
	client Client
	stop   context.CancelFunc
	done   chan struct{}

	mu      sync.Mutex
	result  Result
	outages []span
}

// span is one failed request's life, or the moment of an answer.
type span struct {
	sent, ended time.Time
	ok          bool
}

// Start begins to send requests, until Stop or the end of ctx.
func Start(ctx context.Context, c Client) *Running {
	if c.Interval == 0 {
		c.Interval = 100 * time.Millisecond
	}
	if c.Transport == nil {
		c.Transport = &http.Transport{}
	}
	c.Transport.DisableKeepAlives = c.Fresh
	ctx, cancel := context.WithCancel(ctx)
	r := &Running{client: c, stop: cancel, done: make(chan struct{}), result: Result{Name: c.Name}}
	go r.run(ctx)
	return r
}

func (r *Running) run(ctx context.Context) {
	defer close(r.done)
	tick := time.NewTicker(r.client.Interval)
	defer tick.Stop()
	// A client that waits for an answer sends its next request all the same: an outage shows in full.
	var requests sync.WaitGroup
	defer requests.Wait()
	httpClient := &http.Client{Transport: r.client.Transport, Timeout: requestTimeout}
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			requests.Go(func() { r.ask(httpClient) })
		}
	}
}

// ask sends one request. It is not cut short by the end of the test: a request that was sent is waited for.
func (r *Running) ask(c *http.Client) {
	sent := time.Now()
	err := get(c, r.client.URL, r.client.Header)
	ended := time.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.result.Sent++
	r.outages = append(r.outages, span{sent: sent, ended: ended, ok: err == nil})
	if err == nil {
		r.result.Longest = max(r.result.Longest, ended.Sub(sent))
		return
	}
	r.result.Failed++
	if len(r.result.Failures) < failuresKept {
		r.result.Failures = append(r.result.Failures, Failure{At: sent, Took: ended.Sub(sent), Reason: err.Error()})
	}
}

func get(c *http.Client, url string, header http.Header) error {
	request, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	for k, v := range header {
		request.Header[k] = v
	}
	response, err := c.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("answered %s", response.Status)
	}
	return nil
}

// Snapshot is what the client saw so far.
func (r *Running) Snapshot() Result {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := r.result
	out.Failures = append([]Failure(nil), r.result.Failures...)
	out.Silence = silence(r.outages)
	return out
}

// Stop ends the client and returns what it saw.
func (r *Running) Stop() Result {
	r.stop()
	<-r.done
	r.client.Transport.CloseIdleConnections()
	return r.Snapshot()
}
