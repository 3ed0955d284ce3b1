package realprometheus

import (
	"fmt"
	"net/url"
	"time"

	"sigs.k8s.io/yaml"
)

// Interval is how often targets are scraped and rules are evaluated.
const Interval = 500 * time.Millisecond

// rulesFile lies beside the configuration.
const rulesFile = "rules.yaml"

type group struct {
	Targets []string          `json:"targets"`
	Labels  map[string]string `json:"labels,omitempty"`
}

// configuration scrapes each URL, with its query as labels.
func configuration(targets []string) (string, error) {
	var groups []group
	for _, target := range targets {
		u, err := url.Parse(target)
		if err != nil || u.Host == "" {
			return "", fmt.Errorf("target %q: want e.g. http://127.0.0.1:8080?job=web", target)
		}
		labels := map[string]string{}
		for name, values := range u.Query() {
			labels[name] = values[0]
		}
		groups = append(groups, group{Targets: []string{u.Host}, Labels: labels})
	}
	every := fmt.Sprintf("%dms", Interval.Milliseconds())
	text, err := yaml.Marshal(map[string]any{
		"global":         map[string]any{"scrape_interval": every, "scrape_timeout": every, "evaluation_interval": every},
		"rule_files":     []string{rulesFile},
		"scrape_configs": []any{map[string]any{"job_name": "test", "static_configs": groups}},
	})
	return string(text), err
}
