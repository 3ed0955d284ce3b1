package prometheus_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"refit.dev/refit/internal/prometheus"
)

// answering is a server that answers every request in the same way.
func answering(t *testing.T, status int, body string) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func TestAnAnswerWithWarningsIsNotHealthy(t *testing.T) {
	g := NewWithT(t)
	c := client(g, answering(t, http.StatusOK, `{"status":"success","data":{"resultType":"vector","result":[]},
		"warnings":["No StoreAPIs matched for this query","receive series from Addr: 10.0.0.1:10901"]}`))
	got, err := c.Query(t.Context(), "up")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(got.Samples).To(BeEmpty())
	g.Expect(got.Warnings).To(HaveLen(2))

	_, err = c.FiringAlerts(t.Context(), "critical")
	var partial *prometheus.PartialError
	g.Expect(err).To(MatchError(And(ContainSubstring("No StoreAPIs matched"), ContainSubstring("10.0.0.1:10901"))))
	g.Expect(errors.As(err, &partial)).To(BeTrue())
}

func TestAnswersThatAreNotPrometheusSaySo(t *testing.T) {
	for name, test := range map[string]struct {
		status        int
		body, message string
	}{
		"a page of another program":         {200, "<html>", "serves no Prometheus API"},
		"JSON of another program":           {200, `{"items":[]}`, "serves no Prometheus API"},
		"a wrong path":                      {404, "404 page not found", "port and path"},
		"no pod behind the service":         {503, "upstream connect error", "pods are Ready"},
		"an account that may not":           {403, "Forbidden (user=x)", "wants a token"},
		"a query that took too long there":  {503, `{"status":"error","errorType":"timeout","error":"query timed out"}`, "gave up on the query"},
		"an error of the API's own storage": {500, `{"status":"error","errorType":"internal","error":"disk full"}`, "disk full"},
		"a long page":                       {500, strings.Repeat("x", 9999), "xxx..."},
		"a result without a type":           {200, `{"status":"success"}`, "serves no Prometheus API"},
		"a result without end":              {200, strings.Repeat(" ", 17<<20), "larger than 16 MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			text := reason(t, prometheus.Endpoint{URL: answering(t, test.status, test.body)})
			g.Expect(text).To(ContainSubstring(test.message))
			g.Expect(len(text)).To(BeNumerically("<", 700))
		})
	}
}

func TestAnAccountWithoutTheRightIsToldWhichOne(t *testing.T) {
	g := NewWithT(t)
	has := newFiles(t)
	has.write(g, first)
	e := prometheus.Endpoint{URL: answering(t, http.StatusForbidden, `Forbidden (user=system:serviceaccount:a:b, verb=get) `+first), TokenFile: has.token}
	g.Expect(reason(t, e)).To(And(ContainSubstring("cluster-monitoring-view"), ContainSubstring("system:serviceaccount:a:b")))
}

func TestARedirectNeverGetsTheToken(t *testing.T) {
	for _, status := range []int{http.StatusFound, http.StatusTemporaryRedirect, http.StatusPermanentRedirect} {
		t.Run(http.StatusText(status), func(t *testing.T) {
			g := NewWithT(t)
			var asked atomic.Bool
			thief := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Store(true) }))
			defer thief.Close()
			s := httptest.NewServer(http.RedirectHandler(thief.URL+"/?token="+first, status))
			defer s.Close()
			has := newFiles(t)
			has.write(g, first)
			g.Expect(reason(t, prometheus.Endpoint{URL: s.URL, TokenFile: has.token})).To(And(ContainSubstring("a redirect to "+thief.URL), ContainSubstring("not followed")))
			g.Expect(asked.Load()).To(BeFalse())
		})
	}
}

func TestASlowServerIsLeftAfterTheGivenTime(t *testing.T) {
	g := NewWithT(t)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, err := io.Copy(io.Discard, r.Body) // else the server does not notice that the client leaves
		if err == nil {
			<-r.Context().Done()
		}
	}))
	defer s.Close()
	const limit = 300 * time.Millisecond
	begun := time.Now()
	text := reason(t, prometheus.Endpoint{URL: s.URL, Timeout: limit})
	g.Expect(text).To(ContainSubstring("no answer within 300ms"))
	g.Expect(time.Since(begun)).To(And(BeNumerically(">=", limit), BeNumerically("<", 10*time.Second)))

	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	_, err := client(g, s.URL).Query(ctx, "up")
	g.Expect(err).To(MatchError(context.DeadlineExceeded))
	g.Expect(err).NotTo(MatchError(ContainSubstring("no answer within")), "it is the caller's time that is over")
}

func TestAServerThatCannotBeReachedIsNamed(t *testing.T) {
	g := NewWithT(t)
	closed := httptest.NewServer(nil)
	closed.Close()
	g.Expect(reason(t, prometheus.Endpoint{URL: closed.URL})).To(And(ContainSubstring(closed.URL+" cannot be reached"), ContainSubstring("connection refused")))
	g.Expect(reason(t, prometheus.Endpoint{URL: "http://prometheus.invalid:9090", Timeout: soon})).To(ContainSubstring("http://prometheus.invalid:9090 cannot be reached"))
	g.Expect(reason(t, prometheus.Endpoint{URL: strings.Replace(answering(t, 200, ""), "http:", "https:", 1)})).To(ContainSubstring("does not speak TLS"))
	tls := httptest.NewUnstartedServer(nil)
	tls.Config.ErrorLog = log.New(io.Discard, "", 0)
	tls.StartTLS()
	defer tls.Close()
	g.Expect(reason(t, prometheus.Endpoint{URL: strings.Replace(tls.URL, "https:", "http:", 1)})).To(ContainSubstring("HTTPS server"))
}

func TestQuestionsAreAskedFewAtATimeAndLeaveNoConnection(t *testing.T) {
	g := NewWithT(t)
	const few = 4
	var asked, most, open atomic.Int32
	together := make(chan struct{})
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if now := asked.Add(1); now > most.Load() {
			most.Store(now)
		}
		select { // half of them wait for the other half: they are asked side by side
		case together <- struct{}{}:
		case <-together:
		}
		asked.Add(-1)
		fmt.Fprint(w, `{"status":"success","data":{"resultType":"scalar","result":[1,"1"]}}`)
	}))
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		switch state {
		case http.StateNew:
			open.Add(1)
		case http.StateClosed:
			open.Add(-1)
		}
	}
	s.Start()
	defer s.Close()
	c := client(g, s.URL)
	var wg sync.WaitGroup
	for range 5 * few {
		wg.Go(func() {
			if _, err := c.Query(t.Context(), "1"); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	g.Expect(most.Load()).To(And(BeNumerically(">", 1), BeNumerically("<=", few)))
	g.Eventually(open.Load, soon, "10ms").Should(BeZero())
}
