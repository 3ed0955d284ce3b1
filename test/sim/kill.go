package main

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// killing is what became of the leader that was killed mid-way.
type killing struct {
	at        time.Time
	successor *manager
	// took is what the killed one had used, which no file tells any more.
	took time.Duration
}

// killLeader kills the leader once half of the workers are done, at the size at which that is asked for.
func (sim *simulation) killLeader(ctx context.Context) error {
	if !sim.settings.bench || sim.settings.kill != sim.workers || !sim.killed.at.IsZero() || sim.ledger.tally().done < sim.workers/2 {
		return nil
	}
	leader := sim.leader(ctx)
	if leader == nil {
		return nil
	}
	for _, m := range sim.managers {
		if m != leader {
			sim.killed.successor = m
			m.proxy.watchForWrite()
		}
	}
	sim.killed.took = leader.used()
	leader.kill()
	sim.killed.at = time.Now()
	say(sim.out, "Killed the leader, %s", leader.name)
	return nil
}

// resumption is how long after the kill the other manager wrote something, and how long until it began another node.
func (sim *simulation) resumption() (write, start time.Duration) {
	k := sim.killed
	if k.at.IsZero() {
		return 0, 0
	}
	if first := k.successor.proxy.firstWrite(); !first.IsZero() {
		write = first.Sub(k.at)
	}
	// What the killed leader began just before its end may be seen just after it.
	if first := sim.ledger.firstStartAfter(k.at.Add(2 * time.Second)); !first.IsZero() {
		start = first.Sub(k.at)
	}
	return write, start
}

// waits are how long it took from nodes that were done to the next ones that were started, without those during which nobody led.
func (sim *simulation) waits() []time.Duration {
	_, start := sim.resumption()
	return sim.ledger.latencies(sim.killed.at, sim.killed.at.Add(start))
}

// profile takes profiles of the leader, once, when half of the workers are done.
func (sim *simulation) profile(ctx context.Context) error {
	if !sim.settings.profile || sim.profiled || sim.ledger.tally().done < sim.workers/2 {
		return nil
	}
	sim.profiled = true
	leader := sim.leader(ctx)
	if leader == nil {
		return errors.New("take a profile: nobody leads")
	}
	if sim.settings.keep == "" {
		return errors.New("take a profile: name a folder with --logs")
	}
	go func() {
		if err := leader.keepProfiles(ctx, sim.settings.keep); err != nil {
			fmt.Fprintln(sim.out, err)
		}
	}()
	return nil
}
