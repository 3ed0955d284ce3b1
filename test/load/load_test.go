package load

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

func TestAClientCountsWhatFailed(t *testing.T) {
	g := NewWithT(t)
	var n atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if n.Add(1)%2 == 0 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	defer server.Close()
	r := Start(context.Background(), Client{Name: "web", URL: server.URL, Interval: 2 * time.Millisecond})
	g.Eventually(func() int { return r.Snapshot().Sent }).Should(BeNumerically(">=", 20))
	got := r.Stop()
	g.Expect(got.Failed).To(BeNumerically("~", got.Sent/2, 1))
	g.Expect(got.Failures[0].Reason).To(ContainSubstring("503"))
}

func TestSilenceIsFromTheFirstFailureToTheNextAnswer(t *testing.T) {
	g := NewWithT(t)
	at := func(ms int) time.Time { return time.UnixMilli(int64(ms)) }
	spans := []span{
		{sent: at(0), ended: at(1), ok: true},
		{sent: at(100), ended: at(100)},
		{sent: at(200), ended: at(900)},
		{sent: at(300), ended: at(1000), ok: true},
		{sent: at(1100), ended: at(1101), ok: true},
		{sent: at(1200), ended: at(1300)},
	}
	g.Expect(silence(spans)).To(Equal(1000 * time.Millisecond))
}
