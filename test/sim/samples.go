package main

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// samples are what a program's /metrics says.
type samples []sample

type sample struct {
	name   string
	labels map[string]string
	value  float64
}

var label = regexp.MustCompile(`(\w+)="((?:[^"\\]|\\.)*)"`)

func parseSamples(text []byte) samples {
	var all samples
	for line := range strings.Lines(string(text)) {
		i := strings.LastIndexByte(line, ' ')
		if i < 0 || line[0] == '#' {
			continue
		}
		value, err := strconv.ParseFloat(strings.TrimSpace(line[i:]), 64)
		if err != nil {
			continue
		}
		name, rest, _ := strings.Cut(line[:i], "{")
		s := sample{name: name, value: value, labels: map[string]string{}}
		for _, found := range label.FindAllStringSubmatch(rest, -1) {
			s.labels[found[1]] = found[2]
		}
		all = append(all, s)
	}
	return all
}

func (s sample) has(labels map[string]string) bool {
	for k, v := range labels {
		if s.labels[k] != v {
			return false
		}
	}
	return true
}

// sum adds up the samples of that name with those labels.
func (all samples) sum(name string, labels map[string]string) float64 {
	var total float64
	for _, s := range all {
		if s.name == name && s.has(labels) {
			total += s.value
		}
	}
	return total
}

// quantile reads one off a histogram: it is in the last bucket that is counted up to it, interpolated.
func (all samples) quantile(name string, q float64, labels map[string]string) float64 {
	counts := map[float64]float64{}
	for _, s := range all {
		if s.name != name+"_bucket" || !s.has(labels) {
			continue
		}
		if le, err := strconv.ParseFloat(s.labels["le"], 64); err == nil {
			counts[le] += s.value
		}
	}
	bounds := make([]float64, 0, len(counts))
	for le := range counts {
		bounds = append(bounds, le)
	}
	slices.Sort(bounds)
	if len(bounds) == 0 {
		return math.NaN()
	}
	rank := q * counts[bounds[len(bounds)-1]]
	var below, lower float64
	for _, le := range bounds {
		if counts[le] >= rank && counts[le] > below {
			if math.IsInf(le, 1) {
				return lower
			}
			return lower + (le-lower)*(rank-below)/(counts[le]-below)
		}
		below, lower = counts[le], le
	}
	return lower
}

// values are the different values of a label of that name.
func (all samples) values(name, label string) []string {
	var out []string
	for _, s := range all {
		if v := s.labels[label]; s.name == name && v != "" && !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	slices.Sort(out)
	return out
}
