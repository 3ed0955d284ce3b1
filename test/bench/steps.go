package main

import (
	"fmt"
	"io"
	"time"
)

// steps keeps how long each step of each node took, in the order of their first appearance.
type steps struct {
	nodes, names []string
	took         map[string]map[string]time.Duration
}

func newSteps() *steps { return &steps{took: map[string]map[string]time.Duration{}} }

func (s *steps) add(node, step string, d time.Duration) {
	if s.took[node] == nil {
		s.took[node] = map[string]time.Duration{}
		s.nodes = append(s.nodes, node)
	}
	known := false
	for _, n := range s.names {
		known = known || n == step
	}
	if !known {
		s.names = append(s.names, step)
	}
	s.took[node][step] += d
}

// print writes a table: a row a step, a column a node, in seconds.
func (s *steps) print(w io.Writer) {
	fmt.Fprintf(w, "  %-15s", "seconds")
	for _, n := range s.nodes {
		fmt.Fprintf(w, "%10s", n)
	}
	fmt.Fprintln(w)
	total := map[string]time.Duration{}
	for _, name := range s.names {
		fmt.Fprintf(w, "  %-15s", name)
		for _, n := range s.nodes {
			fmt.Fprintf(w, "%10.1f", s.took[n][name].Seconds())
			total[n] += s.took[n][name]
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintf(w, "  %-15s", "in all")
	for _, n := range s.nodes {
		fmt.Fprintf(w, "%10.1f", total[n].Seconds())
	}
	fmt.Fprintln(w)
}
