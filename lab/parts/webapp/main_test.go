package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

func TestItCountsItsAnswersAndStopsBeingReady(t *testing.T) {
	g := NewWithT(t)
	ctx, stop := context.WithCancel(t.Context())
	h := handler(ctx)
	ask := func(path string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		return w
	}
	g.Expect(ask("/").Body.String()).To(HaveSuffix("answers request 1\n"))
	g.Expect(ask("/").Body.String()).To(HaveSuffix("answers request 2\n"))
	g.Expect(ask("/ready").Code).To(Equal(http.StatusOK))
	stop()
	g.Expect(ask("/ready").Code).To(Equal(http.StatusServiceUnavailable))
	g.Expect(ask("/").Code).To(Equal(http.StatusOK), "it serves until nobody asks")
}

func TestItEndsWellWhenToldTo(t *testing.T) {
	g := NewWithT(t)
	ctx, stop := context.WithCancel(t.Context())
	stop()
	g.Expect(run(ctx, "127.0.0.1:0", time.Millisecond)).To(Succeed())
}
