package main

import (
	"io"
	"net/url"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"refit.dev/refit/api/v1alpha1"
)

func TestRequestsAreSortedAsTheAPIServerDoes(t *testing.T) {
	for asked, want := range map[[2]string]request{
		{"GET", "/api/v1/nodes?limit=500"}:                                                         {"list", "nodes"},
		{"GET", "/api/v1/nodes/worker-0001"}:                                                       {"get", "nodes"},
		{"GET", "/apis/refit.dev/v1alpha1/namespaces/refit-system/nodeupgrades?watch=true"}:        {"watch", "nodeupgrades"},
		{"PUT", "/apis/refit.dev/v1alpha1/namespaces/refit-system/nodeupgrades/a/status?x=y"}:      {"update", "nodeupgrades/status"},
		{"POST", "/api/v1/namespaces/refit-system/pods"}:                                           {"create", "pods"},
		{"PATCH", "/apis/coordination.k8s.io/v1/namespaces/refit-system/leases/refit-manager"}:     {"patch", "leases"},
		{"GET", "/apis/refit.dev/v1alpha1"}:                                                        {"get", "(discovery and others)"},
		{"GET", "/metrics"}:                                                                        {"get", "(discovery and others)"},
		{"DELETE", "/api/v1/namespaces/refit-system/pods/worker-0001-node-upgrader?propagation=x"}: {"delete", "pods"},
	} {
		u, err := url.Parse(asked[1])
		NewWithT(t).Expect(err).NotTo(HaveOccurred())
		NewWithT(t).Expect(classify(asked[0], u)).To(Equal(want), asked[1])
	}
}

func TestTheLedgerKeepsTheOrderOfTheAPIServer(t *testing.T) {
	g, l, now := NewWithT(t), newLedger(1), time.Now()
	claim := func(version uint64, node string, held bool, phase v1alpha1.NodeUpgradePhase, after time.Duration) event {
		return event{version: version, at: now.Add(after), node: node, worker: true, claim: true, held: held, phase: phase}
	}
	l.add(claim(1, "a", true, v1alpha1.NodeStaged, 0))
	l.add(claim(2, "b", true, v1alpha1.NodeStaged, 0))
	l.add(claim(3, "a", false, v1alpha1.NodeStaged, 0))
	// The watch of nodes is behind: that a is back arrives after b was begun, but happened before.
	l.add(event{version: 4, at: now, node: "a", worker: true, out: true})
	l.add(claim(6, "a", false, v1alpha1.NodeCompleted, time.Second))
	l.add(claim(7, "b", false, v1alpha1.NodeStaged, 1300*time.Millisecond))
	l.add(event{version: 5, at: now.Add(1400 * time.Millisecond), node: "a", worker: true})
	l.flush(now.Add(time.Minute))
	g.Expect(l.mostOut).To(Equal(1))
	g.Expect(l.passed).To(BeZero())
	g.Expect(l.latencies(time.Time{}, time.Time{})).To(Equal([]time.Duration{300 * time.Millisecond}))
	g.Expect(l.latencies(now.Add(1100*time.Millisecond), now.Add(1300*time.Millisecond))).To(BeEmpty(), "nobody led")
	g.Expect(l.latencies(now.Add(2*time.Second), now.Add(3*time.Second))).To(HaveLen(1), "it was begun before")
	g.Expect(l.tally().flying).To(Equal(1))

	l.add(claim(8, "c", false, v1alpha1.NodeUpgrading, 2*time.Second))
	l.flush(now.Add(time.Minute))
	g.Expect(l.mostOut).To(Equal(2))
	g.Expect(l.passed).To(Equal(1), "the limit is 1")
}

func TestQuantilesAreReadOffHistograms(t *testing.T) {
	g := NewWithT(t)
	all := parseSamples([]byte(`# HELP x
x_bucket{controller="a",le="0.1"} 90
x_bucket{controller="a",le="1"} 100
x_bucket{controller="a",le="+Inf"} 100
x_count{controller="a"} 100
leader 1
`))
	g.Expect(all.sum("leader", nil)).To(Equal(1.0))
	g.Expect(all.values("x_count", "controller")).To(Equal([]string{"a"}))
	g.Expect(all.quantile("x", 0.5, map[string]string{"controller": "a"})).To(BeNumerically("~", 0.0556, 0.001))
	g.Expect(all.quantile("x", 0.99, map[string]string{"controller": "a"})).To(BeNumerically("~", 0.91, 0.001))
}

func TestNodesTakeAsLongAsTheRateLeaves(t *testing.T) {
	g := NewWithT(t)
	s, err := parseSettings(nil, io.Discard)
	g.Expect(err).NotTo(HaveOccurred())
	for workers, want := range map[int]time.Duration{20: 5 * time.Second, 100: 5 * time.Second, 1000: 20 * time.Second, 5000: 100 * time.Second} {
		g.Expect(s.at(workers).nodeTime).To(Equal(want), "%d workers", workers)
	}
	s, err = parseSettings([]string{"--node-time=7s"}, io.Discard)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(s.at(1000).nodeTime).To(Equal(7 * time.Second))
	_, err = parseSettings([]string{"--rate=0"}, io.Discard)
	g.Expect(err).To(MatchError(ContainSubstring("a rate more than 0")))
}
