package prometheus_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"refit.dev/refit/internal/prometheus"
	"refit.dev/refit/internal/prometheus/realprometheus"
)

func TestTheResultOfAQueryIsItsSamples(t *testing.T) {
	t.Parallel() // a new Prometheus takes 5 s until it scrapes
	var metrics strings.Builder
	for i := range prometheus.MaxSamples + 5 {
		fmt.Fprintf(&metrics, "many{n=\"%04d\"} %d\n", i, i)
	}
	metrics.WriteString("one{b=\"2\"} 2\none{b=\"1\"} NaN\nbad +Inf\n")
	c := client(NewWithT(t), realprometheus.Start(t, "", realprometheus.NewTarget(t, metrics.String()).URL("job", "j", "instance", "i")).URL)
	one := func(b string, value float64) prometheus.Sample {
		return prometheus.Sample{Labels: map[string]string{"__name__": "one", "b": b, "job": "j", "instance": "i"}, Value: value}
	}
	waitFor(t, c, "bad")

	for name, test := range map[string]struct {
		query string
		want  []prometheus.Sample
	}{
		"nothing":                          {`one{b="3"}`, nil},
		"a comparison that selects":        {`one > 1`, []prometheus.Sample{one("2", 2)}},
		"a scalar":                         {`1 + 1`, []prometheus.Sample{{Value: 2}}},
		"a vector without labels":          {`vector(3)`, []prometheus.Sample{{Labels: map[string]string{}, Value: 3}}},
		"the last value of a matrix":       {`one{b="2"}[1m]`, []prometheus.Sample{one("2", 2)}},
		"what is infinite":                 {`sum(bad)`, []prometheus.Sample{{Labels: map[string]string{}, Value: math.Inf(1)}}},
		"a query of more than a few bytes": {`vector(1)` + strings.Repeat(" + vector(1)", 900), []prometheus.Sample{{Labels: map[string]string{}, Value: 901}}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			got, err := c.Query(t.Context(), test.query)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(got).To(Equal(prometheus.Result{Samples: test.want}))
		})
	}

	t.Run("NaN is a sample like any other, and samples are sorted", func(t *testing.T) {
		g := NewWithT(t)
		got, err := c.Query(t.Context(), "one")
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(got.Samples).To(HaveLen(2))
		g.Expect(math.IsNaN(got.Samples[0].Value)).To(BeTrue())
		g.Expect(got.Samples[1]).To(Equal(one("2", 2)))
	})
	t.Run("of too many samples the first are kept", func(t *testing.T) {
		g := NewWithT(t)
		got, err := c.Query(t.Context(), "many")
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(got.Samples).To(HaveLen(prometheus.MaxSamples))
		g.Expect(got.Samples[0].Labels).To(HaveKeyWithValue("n", "0000"))
		g.Expect(got.Samples[prometheus.MaxSamples-1].Labels).To(HaveKeyWithValue("n", "0999"))
		g.Expect(got.Dropped).To(Equal(5))
	})
	for name, test := range map[string]struct{ query, message string }{
		"a query with a mistake":        {`up{job=`, "unexpected end of input"},
		"a query of nothing":            {"", "no expression found in input"},
		"a query whose result is words": {`"all is well"`, "a string"},
	} {
		t.Run(name+" is refused with what is wrong", func(t *testing.T) {
			g := NewWithT(t)
			_, err := c.Query(t.Context(), test.query)
			var refused *prometheus.QueryError
			g.Expect(err).To(BeAssignableToTypeOf(refused))
			g.Expect(err).To(MatchError(And(ContainSubstring(test.query), ContainSubstring(test.message), ContainSubstring("correct it"))))
		})
	}
	t.Run("a query that fails on the data says so", func(t *testing.T) {
		g := NewWithT(t)
		_, err := c.Query(t.Context(), `one * on(job) many`)
		g.Expect(err).To(MatchError(And(ContainSubstring("could not evaluate the query one * on(job) many"), ContainSubstring("many-to-many"))))
	})
}

// argocd is the custom query of the design.
const argocd = `up{job=~"^argocd-.+$",namespace="syn"} != 1`

func TestACustomQueryFindsATargetThatIsDown(t *testing.T) {
	t.Parallel() // a new Prometheus takes 5 s until it scrapes
	g := NewWithT(t)
	server, repo, other := realprometheus.NewTarget(t, "a 1"), realprometheus.NewTarget(t, "a 1"), realprometheus.NewTarget(t, "a 1")
	other.Break() // of another namespace
	c := client(g, realprometheus.Start(t, "", server.URL("job", "argocd-server", "namespace", "syn"),
		repo.URL("job", "argocd-repo", "namespace", "syn"), other.URL("job", "argocd-server", "namespace", "test")).URL)
	down := func(g Gomega) []string {
		got, err := c.Query(t.Context(), argocd)
		g.Expect(err).NotTo(HaveOccurred())
		var jobs []string
		for _, s := range got.Samples {
			g.Expect(s.Value).To(BeZero())
			jobs = append(jobs, s.Labels["job"])
		}
		return jobs
	}
	g.Eventually(func(g Gomega) {
		up, err := c.Query(t.Context(), "up")
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(up.Samples).To(HaveLen(3))
		g.Expect(down(g)).To(BeEmpty())
	}, soon, "200ms").Should(Succeed())
	repo.Break()
	g.Eventually(down, soon, "200ms").Should(Equal([]string{"argocd-repo"}))
	repo.Set("a 1")
	g.Eventually(down, soon, "200ms").Should(BeEmpty())
}

// waitFor waits until a query has a result: until the first scrape.
func waitFor(t *testing.T, c *prometheus.Client, query string) {
	t.Helper()
	NewWithT(t).Eventually(func(g Gomega) {
		got, err := c.Query(t.Context(), query)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(got.Samples).NotTo(BeEmpty())
	}, soon, "100ms").Should(Succeed())
}
