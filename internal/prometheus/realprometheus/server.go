// Package realprometheus gives tests a real Prometheus, with rules, and with targets whose metrics a test switches.
package realprometheus

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// program is the variable that names the file.
const program = "REFIT_PROMETHEUS"

const (
	// startTimeout bounds the start, until Prometheus answers.
	startTimeout = time.Minute
	// attempts are made to start it: somebody else may take the free port first.
	attempts = 3
)

// Server is a running Prometheus.
type Server struct {
	// URL is its address: http://127.0.0.1:PORT.
	URL string
}

// Start runs a Prometheus until the end of the test. rules is the text of a file of rules, or empty. It scrapes the targets, which
// are URLs as Target.URL gives them, and evaluates the rules, every Interval. Where the program is missing the test fails; it is
// never skipped. Prometheus begins to scrape 5 s after its start: tests that wait for that do so side by side, with t.Parallel.
func Start(t testing.TB, rules string, targets ...string) *Server {
	t.Helper()
	path := os.Getenv(program)
	if path == "" {
		t.Fatalf("%s is not set: it names the program prometheus; `make test` sets it", program)
	}
	dir := t.TempDir()
	config := filepath.Join(dir, "prometheus.yaml")
	text, err := configuration(targets)
	if err != nil {
		t.Fatalf("configure Prometheus: %v", err)
	}
	for file, content := range map[string]string{config: text, filepath.Join(dir, rulesFile): rules} {
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatalf("configure Prometheus: %v", err)
		}
	}
	for range attempts {
		var s *Server
		if s, err = run(t, path, config, filepath.Join(dir, "data")); err == nil {
			return s
		}
	}
	t.Fatalf("start Prometheus of %s=%s: %v", program, path, err)
	return nil
}

// run starts the program, and waits until it is ready.
func run(t testing.TB, path, config, data string) (*Server, error) {
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, path, "--config.file="+config, "--storage.tsdb.path="+data, "--web.listen-address="+address,
		"--scrape.discovery-reload-interval=100ms", "--log.level=warn")
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &log, &log
	diesWithTheTest(cmd)
	if err := cmd.Start(); err != nil {
		stop()
		return nil, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	end := func() { // its data is thrown away: it need not close it
		stop()
		ended <- <-ended // for whoever else waits
	}
	s := &Server{URL: "http://" + address}
	if err := s.ready(ctx, ended); err != nil {
		end()
		return nil, fmt.Errorf("%w; it said: %s", err, log.String())
	}
	t.Cleanup(end)
	return s, nil
}

// ready waits until Prometheus answers, within startTimeout.
func (s *Server) ready(ctx context.Context, ended chan error) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		if answers(ctx, s.URL+"/-/ready") {
			return nil
		}
		select {
		case err := <-ended:
			ended <- err
			return fmt.Errorf("it ended: %w", cmp.Or(err, errors.New("exit status 0")))
		case <-ctx.Done():
			return errors.New("it does not answer within " + startTimeout.String())
		case <-tick.C:
		}
	}
}

func answers(ctx context.Context, url string) bool {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return false
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return false
	}
	defer response.Body.Close()
	return response.StatusCode == http.StatusOK
}

func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}
