package prometheus_test

import (
	"os"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"refit.dev/refit/internal/prometheus"
	"refit.dev/refit/internal/prometheus/realprometheus"
)

// Tokens, which no error may hold.
const (
	first  = "first-secret-eyJhbGciOiJ"
	second = "second-secret-eyJhbGciOiJ"
)

// reason asks, and gives the error's text, which must not hold a token.
func reason(t *testing.T, e prometheus.Endpoint) string {
	t.Helper()
	g := NewWithT(t)
	_, err := newClient(g, e).Query(t.Context(), "vector(1)")
	g.Expect(err).To(HaveOccurred())
	g.Expect(err.Error()).NotTo(Or(ContainSubstring(first), ContainSubstring(second)))
	return err.Error()
}

func TestAPrometheusBehindTLSAndATokenIsAsked(t *testing.T) {
	f := newFront(t, realprometheus.Start(t, "").URL)
	f.admit(first)
	has := newFiles(t)
	f.trust(NewWithT(t), has.ca)
	has.write(NewWithT(t), first)
	right := prometheus.Endpoint{URL: f.URL, CAFile: has.ca, TokenFile: has.token, Timeout: soon}
	c := newClient(NewWithT(t), right)
	works := func(g Gomega, c *prometheus.Client) {
		got, err := c.Query(t.Context(), "vector(1)")
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(got.Samples).To(HaveLen(1))
	}
	works(NewWithT(t), c)

	t.Run("also by another name than its address", func(t *testing.T) {
		g := NewWithT(t)
		e := right
		e.ServerName = "thanos-querier"
		works(g, newClient(g, e))
		e.ServerName = "grafana"
		g.Expect(reason(t, e)).To(ContainSubstring("ServerName"))
	})
	t.Run("also where the account may only GET", func(t *testing.T) {
		f.getOnly.Store(true)
		defer f.getOnly.Store(false)
		works(NewWithT(t), c)
	})
	t.Run("not with the wrong token", func(t *testing.T) {
		g := NewWithT(t)
		e := right
		e.TokenFile = newFiles(t).token
		files{token: e.TokenFile}.write(g, second)
		g.Expect(reason(t, e)).To(And(ContainSubstring(e.TokenFile), ContainSubstring("401"), ContainSubstring("[token]")))
		e.TokenFile = ""
		g.Expect(reason(t, e)).To(ContainSubstring("wants a token: name a file"))
	})
	t.Run("not without its authority", func(t *testing.T) {
		g := NewWithT(t)
		e := right
		e.CAFile = ""
		g.Expect(reason(t, e)).To(And(ContainSubstring("not trusted"), ContainSubstring("in CAFile")))
		e.CAFile = newFiles(t).ca
		g.Expect(os.WriteFile(e.CAFile, newAuthority(g, time.Now().Add(time.Hour)).pem, 0o600)).To(Succeed())
		g.Expect(reason(t, e)).To(And(ContainSubstring("not trusted"), ContainSubstring("CAFile "+e.CAFile)))
		e.CAFile, e.InsecureSkipVerify = "", true
		works(g, newClient(g, e))
	})
	t.Run("after the token and the authority were replaced", func(t *testing.T) {
		g := NewWithT(t)
		f.admit(second)
		g.Expect(reason(t, right)).To(ContainSubstring("401"))
		has.write(g, second)
		works(g, c)
		f.trust(g, has.ca)
		works(g, c)
	})
	t.Run("not with a certificate that has expired", func(t *testing.T) {
		g := NewWithT(t)
		old := newAuthority(g, time.Now().Add(-time.Hour))
		f.cert.Store(&old.cert)
		g.Expect(os.WriteFile(has.ca, old.pem, 0o600)).To(Succeed())
		g.Expect(reason(t, right)).To(And(ContainSubstring("not trusted"), ContainSubstring("expired")))
	})
}

func TestFilesThatAreWrongAreNamedWithoutWhatTheyHold(t *testing.T) {
	has, missing := newFiles(t), newFiles(t)
	has.write(NewWithT(t), first)
	const url = "https://127.0.0.1:1"
	for name, test := range map[string]struct {
		token, ca string // what the files hold
		e         prometheus.Endpoint
		message   string
	}{
		"no token file":        {e: prometheus.Endpoint{TokenFile: missing.token}, message: missing.token},
		"an empty token":       {token: "", e: prometheus.Endpoint{TokenFile: has.token}, message: has.token + " is empty"},
		"two tokens":           {token: first + "\n" + second, e: prometheus.Endpoint{TokenFile: has.token}, message: "other than one token"},
		"no authorities":       {e: prometheus.Endpoint{CAFile: missing.ca}, message: "CAFile"},
		"authorities of words": {ca: first, e: prometheus.Endpoint{CAFile: has.ca}, message: "CAFile " + has.ca + " holds no certificate"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			has.write(g, test.token)
			g.Expect(os.WriteFile(has.ca, []byte(test.ca), 0o600)).To(Succeed())
			test.e.URL = url
			g.Expect(reason(t, test.e)).To(ContainSubstring(test.message))
		})
	}
}
