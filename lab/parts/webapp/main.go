// Command webapp is the application of the demo and the tests: it answers every request with its host's name and how
// many requests it has answered. Told to stop, it goes on serving until nobody sends it requests any more, so that a
// well-run upgrade loses none.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"
)

func main() {
	at := flag.String("listen", ":8080", "address to listen on")
	linger := flag.Duration("linger", 5*time.Second, "how long to go on serving after being told to stop, until the cluster has noticed")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, *at, *linger)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(1)
	}
}

// drainDeadline bounds the wait for the last answers.
const drainDeadline = 10 * time.Second

// run serves until ctx ends and linger is over.
func run(ctx context.Context, at string, linger time.Duration) error {
	server := &http.Server{Addr: at, Handler: handler(ctx), ReadHeaderTimeout: 10 * time.Second}
	failed := make(chan error, 1)
	go func() { failed <- server.ListenAndServe() }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	// From now on /ready fails, and clients that keep a connection are asked to make a new one.
	server.SetKeepAlivesEnabled(false)
	select {
	case err := <-failed:
		return err
	case <-time.After(linger):
	}
	last, cancel := context.WithTimeout(context.Background(), drainDeadline)
	defer cancel()
	if err := server.Shutdown(last); err != nil && !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("end the last requests: %w", err)
	}
	return nil
}

// handler answers / with who it is, and /ready with whether it wants more requests.
func handler(stopping context.Context) http.Handler {
	name, err := os.Hostname()
	if err != nil {
		name = "unknown"
	}
	var count atomic.Int64
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, "%s answers request %d\n", name, count.Add(1))
	})
	mux.HandleFunc("/ready", func(w http.ResponseWriter, _ *http.Request) {
		if stopping.Err() != nil {
			http.Error(w, "stopping", http.StatusServiceUnavailable)
		}
	})
	return mux
}
