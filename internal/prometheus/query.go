package prometheus

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/prometheus/common/model"
)

// MaxSamples is how many samples of a result are kept.
const MaxSamples = 1000

// Result is what a query gave.
type Result struct {
	// Samples are the first MaxSamples, sorted by their labels, so that the same result reads the same every time.
	Samples []Sample
	// Dropped is how many samples there were beyond MaxSamples.
	Dropped int
	// Warnings are Prometheus's. With any of them, samples may be missing: no samples then does not mean that all is well.
	Warnings []string
}

// Sample is one series of a result.
type Sample struct {
	// Labels are the series's, with the name of the metric as __name__ where the query keeps it. A scalar has none.
	Labels map[string]string
	// Value may be NaN or infinite. That of a native histogram is its number of observations.
	Value float64
}

// Query evaluates a query at the present moment. A vector gives its samples, a matrix the last value of each series, a scalar one
// sample without labels. A query that Prometheus refuses, or whose result is a string, is a *QueryError.
func (c *Client) Query(ctx context.Context, promql string) (Result, error) {
	value, warnings, err := c.ask(ctx, promql)
	if err != nil {
		return Result{}, err
	}
	result := Result{Warnings: warnings}
	switch v := value.(type) {
	case *model.Scalar:
		result.Samples = []Sample{{Value: float64(v.Value)}}
	case model.Vector:
		result.take(v)
	case model.Matrix:
		result.take(lastOf(v))
	default:
		return Result{}, fmt.Errorf("the result of the query %s is a %s: ask for a vector, a matrix or a scalar", promql, value.Type())
	}
	return result, nil
}

// take fills the samples, up to MaxSamples.
func (r *Result) take(v model.Vector) {
	sortVector(v)
	r.Dropped = max(0, len(v)-MaxSamples)
	for _, s := range v[:len(v)-r.Dropped] {
		value := float64(s.Value)
		if s.Histogram != nil {
			value = float64(s.Histogram.Count)
		}
		r.Samples = append(r.Samples, Sample{Labels: labelsOf(s.Metric), Value: value})
	}
}

// lastOf is the last value of each series.
func lastOf(m model.Matrix) model.Vector {
	var last model.Vector
	for _, series := range m {
		s := &model.Sample{Metric: series.Metric}
		if n := len(series.Values); n > 0 {
			s.Timestamp, s.Value = series.Values[n-1].Timestamp, series.Values[n-1].Value
		}
		if n := len(series.Histograms); n > 0 && series.Histograms[n-1].Timestamp >= s.Timestamp {
			s.Histogram = series.Histograms[n-1].Histogram
		}
		last = append(last, s)
	}
	return last
}

// sortVector orders samples by their labels.
func sortVector(v model.Vector) {
	text := make(map[*model.Sample]string, len(v))
	for _, s := range v {
		text[s] = s.Metric.String()
	}
	slices.SortFunc(v, func(a, b *model.Sample) int { return strings.Compare(text[a], text[b]) })
}

// labelsOf is a copy of a series's labels.
func labelsOf(m model.Metric) map[string]string {
	labels := make(map[string]string, len(m))
	for name, value := range m {
		labels[string(name)] = string(value)
	}
	return labels
}
