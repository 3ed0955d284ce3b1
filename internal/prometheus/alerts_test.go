package prometheus_test

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"refit.dev/refit/internal/prometheus"
	"refit.dev/refit/internal/prometheus/realprometheus"
)

// soon bounds what needs a few scrapes and evaluations, on a machine that is busy.
const soon = 30 * time.Second

const rules = `
groups:
- name: health
  rules:
  - {alert: DatabaseDown, expr: database_up == 0, labels: {severity: critical}}
  - {alert: CertificateOld, expr: database_up == 0, for: 1h, labels: {severity: critical}}
  - {alert: DatabaseSlow, expr: database_up == 0, labels: {severity: warning}}
  - {alert: ClusterDown, expr: vector(1), labels: {severity: critical, quote: 'a "b" \ c'}}
`

// client asks without certificate and token.
func client(g Gomega, url string) *prometheus.Client {
	c, err := prometheus.New(prometheus.Endpoint{URL: url, Timeout: soon})
	g.Expect(err).NotTo(HaveOccurred())
	return c
}

func TestFiringCriticalAlertsAreSeenUntilTheyResolve(t *testing.T) {
	t.Parallel() // a new Prometheus takes 5 s until it scrapes
	g := NewWithT(t)
	down := "database_up{namespace=\"syn\",pod=\"db-1\"} 0\ndatabase_up{namespace=\"app\",pod=\"db-0\"} 0\n"
	target := realprometheus.NewTarget(t, down)
	// honor_labels is off, so that the namespace comes from the metric where the target has none
	c := client(g, realprometheus.Start(t, rules, target.URL("job", "database", "instance", "db")).URL)

	labels := func(more ...string) map[string]string {
		all := map[string]string{"severity": "critical"}
		for i := 0; i < len(more); i += 2 {
			all[more[i]] = more[i+1]
		}
		return all
	}
	database := func(namespace, pod string) prometheus.Alert {
		return prometheus.Alert{Name: "DatabaseDown", Namespace: namespace, Severity: "critical",
			Labels: labels("alertname", "DatabaseDown", "namespace", namespace, "pod", pod, "job", "database", "instance", "db")}
	}
	cluster := prometheus.Alert{Name: "ClusterDown", Severity: "critical", Labels: labels("alertname", "ClusterDown", "quote", `a "b" \ c`)}
	g.Eventually(func(g Gomega) {
		pending, err := c.Query(t.Context(), `ALERTS{alertstate="pending",alertname="CertificateOld"}`)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(pending.Samples).To(HaveLen(2))
		g.Expect(c.FiringAlerts(t.Context(), "warning")).To(HaveLen(2))
		g.Expect(c.FiringAlerts(t.Context(), "critical")).To(Equal([]prometheus.Alert{cluster, database("app", "db-0"), database("syn", "db-1")}))
	}, soon, "200ms").Should(Succeed())

	target.Set("database_up{namespace=\"syn\",pod=\"db-1\"} 1\ndatabase_up{namespace=\"app\",pod=\"db-0\"} 1\n")
	g.Eventually(func(g Gomega) {
		g.Expect(c.FiringAlerts(t.Context(), "critical")).To(Equal([]prometheus.Alert{cluster}))
		g.Expect(c.FiringAlerts(t.Context(), "warning")).To(BeEmpty())
	}, soon, "200ms").Should(Succeed())

	g.Expect(c.FiringAlerts(t.Context(), `no"ne`)).To(BeEmpty())
	_, err := c.FiringAlerts(t.Context(), "")
	g.Expect(err).To(MatchError(ContainSubstring("severity is empty")))
}
