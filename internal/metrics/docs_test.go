package metrics

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"sigs.k8s.io/yaml"
)

func document(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "docs", "metrics.md"))
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return string(data)
}

func TestTheDocumentationNamesEveryMetricWithItsLabelsAndNoOther(t *testing.T) {
	g, text := NewWithT(t), document(t)
	rows := map[string]string{}
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\| ([^|]*) \\|").FindAllStringSubmatch(text, -1) {
		rows[row[1]] = row[2]
	}
	g.Expect(rows).To(HaveKeyWithValue("refit_metrics_collect_errors_total", "`what`"))
	for _, m := range catalogue() {
		labels := "none"
		if len(m.labels) > 0 {
			labels = "`" + strings.Join(m.labels, "`, `") + "`"
		}
		g.Expect(rows).To(HaveKeyWithValue(strings.TrimPrefix(m.name, aliasPrefix), labels))
	}
	g.Expect(rows).To(HaveLen(len(catalogue()) + 1))
	for _, what := range whats {
		g.Expect(text).To(ContainSubstring("`" + what + "`"))
	}
}

func TestTheAlertsAskForMetricsThatThereAre(t *testing.T) {
	g := NewWithT(t)
	_, rest, found := strings.Cut(document(t), "```yaml\n")
	g.Expect(found).To(BeTrue())
	manifest, _, _ := strings.Cut(rest, "```")
	var rules struct {
		Groups []struct {
			Rules []struct{ Alert, Expr string }
		}
	}
	g.Expect(yaml.Unmarshal([]byte(manifest), &rules)).To(Succeed())
	g.Expect(rules.Groups).To(HaveLen(1))
	g.Expect(rules.Groups[0].Rules).To(HaveLen(3))
	var there []string
	for _, m := range catalogue() {
		there = append(there, m.name)
	}
	for _, r := range rules.Groups[0].Rules {
		asked := regexp.MustCompile(`refit_[a-z_]+`).FindAllString(r.Expr, -1)
		g.Expect(asked).NotTo(BeEmpty(), r.Alert)
		for _, name := range asked {
			g.Expect(there).To(ContainElement(name), r.Alert)
		}
	}
}
