package observe

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"refit.dev/refit/api/managedupgrade/v1beta1"
	"refit.dev/refit/internal/prometheus"
	"refit.dev/refit/internal/snapshot"
)

// healthWithin bounds all questions of one health check to Prometheus.
const healthWithin = 20 * time.Second

// resultsShown is how many results of a query are kept in words.
const resultsShown = 5

// critical is the severity of alerts that make a cluster unhealthy (seed: openshift-upgrade-controller).
const critical = "critical"

// Health asks Prometheus what a health check wants to know.
func Health(ctx context.Context, source prometheus.Source, check v1beta1.UpgradeJobHealthCheck) snapshot.Health {
	ctx, cancel := context.WithTimeout(ctx, healthWithin)
	defer cancel()
	seen := snapshot.Health{Queries: make([]snapshot.Answer, len(check.CustomQueries))}
	var wg sync.WaitGroup
	if check.CheckCriticalAlerts {
		wg.Go(func() { alerts(ctx, source, &seen) })
	}
	for i, q := range check.CustomQueries {
		wg.Go(func() { seen.Queries[i] = answer(ctx, source, q.Query) })
	}
	wg.Wait()
	return seen
}

func alerts(ctx context.Context, source prometheus.Source, into *snapshot.Health) {
	client, err := source.Client()
	if err != nil {
		into.AlertsProblem = err.Error()
		return
	}
	firing, err := client.FiringAlerts(ctx, critical)
	if err != nil {
		into.AlertsProblem = err.Error()
		return
	}
	for _, a := range firing {
		into.Alerts = append(into.Alerts, snapshot.Alert{Name: a.Name, Namespace: a.Namespace})
	}
}

func answer(ctx context.Context, source prometheus.Source, query string) snapshot.Answer {
	a := snapshot.Answer{Query: query}
	client, err := source.Client()
	if err != nil {
		a.Problem = err.Error()
		return a
	}
	result, err := client.Query(ctx, query)
	switch {
	case err != nil:
		a.Problem = err.Error()
	case len(result.Warnings) > 0:
		a.Problem = "the answer may lack something: " + strings.Join(result.Warnings, "; ")
	}
	a.Total = len(result.Samples) + result.Dropped
	for _, s := range result.Samples[:min(len(result.Samples), resultsShown)] {
		a.Results = append(a.Results, series(s))
	}
	return a
}

// series is a sample as PromQL would write it.
func series(s prometheus.Sample) string {
	var pairs []string
	for _, name := range slices.Sorted(maps.Keys(s.Labels)) {
		if name != "__name__" {
			pairs = append(pairs, fmt.Sprintf("%s=%q", name, s.Labels[name]))
		}
	}
	return fmt.Sprintf("%s{%s} = %s", s.Labels["__name__"], strings.Join(pairs, ","), strconv.FormatFloat(s.Value, 'g', -1, 64))
}
