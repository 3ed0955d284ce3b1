package main

import (
	"context"
	"time"
)

// reading is what the managers have used so far.
type reading struct {
	at       time.Time
	requests map[request]int
	// flows are answers by the UID of the FlowSchema that they came under.
	flows                 map[string]int
	watchBytes, readBytes int64
	cpu                   time.Duration
	// memory is the greatest of any of the managers so far.
	memory  int64
	metrics samples
}

func (sim *simulation) measure(ctx context.Context) (reading, error) {
	r := reading{at: time.Now(), requests: map[request]int{}, flows: map[string]int{}, cpu: sim.killed.took}
	for _, m := range sim.managers {
		counts, flows := m.proxy.requests()
		for q, n := range counts {
			r.requests[q] += n
		}
		for uid, n := range flows {
			r.flows[uid] += n
		}
		r.watchBytes += m.proxy.watchBytes.Load()
		r.readBytes += m.proxy.readBytes.Load()
		if m.alive() != nil {
			continue
		}
		r.cpu += m.used()
		_, most := m.resident()
		r.memory = max(r.memory, most)
		if !m.leads(ctx) {
			continue
		}
		var err error
		if r.metrics, err = m.scrape(ctx); err != nil {
			return r, err
		}
	}
	return r, nil
}
