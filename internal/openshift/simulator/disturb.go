package simulator

import (
	"fmt"
	"maps"
	"slices"
	"time"

	configv1 "github.com/openshift/api/config/v1"
)

// disturbance is what goes otherwise than it should, and what the update service offers.
type disturbance struct {
	// factor is how many times longer everything takes.
	factor float64
	// until is when an interruption ends.
	until time.Time
	// troubles of cluster operators.
	troubles map[string]trouble
	// stuck is the machine of a pool that fails to take a configuration.
	stuck map[string]int
	// known are all releases that there are, withdrawn those of them that are not offered.
	known     []configv1.Release
	withdrawn map[string]bool
}

// trouble is why a cluster operator is not well.
type trouble struct {
	// unavailable is Available=False; else it is Degraded=True.
	unavailable     bool
	reason, message string
	since           time.Time
}

func newDisturbance(o Options) disturbance {
	d := disturbance{factor: 1, troubles: map[string]trouble{}, stuck: map[string]int{}, withdrawn: map[string]bool{}}
	d.known = slices.Clone(o.AvailableUpdates)
	for _, h := range append([]configv1.UpdateHistory{{Version: o.Version}}, o.History...) {
		if !slices.ContainsFunc(d.known, func(r configv1.Release) bool { return r.Version == h.Version }) {
			image := h.Image
			if image == "" {
				image = Image(h.Version)
			}
			d.known = append(d.known, configv1.Release{Version: h.Version, Image: image})
			d.withdrawn[h.Version] = true
		}
	}
	return d
}

func (d disturbance) clone() disturbance {
	d.troubles, d.stuck, d.withdrawn = maps.Clone(d.troubles), maps.Clone(d.stuck), maps.Clone(d.withdrawn)
	d.known = slices.Clone(d.known)
	return d
}

// Slow makes everything take so many times longer, from now on; 1 is as usual, 0.5 twice as fast. It fails when the factor is not above 0.
func (s *Simulator) Slow(factor float64) error {
	if !(factor > 0) {
		return fmt.Errorf("slow by %v: the factor must be above 0", factor)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.disturbance.factor = factor
	return nil
}

// Interrupt has both operators do nothing for a while, as if their Pods were gone; they go on where they were. 0 ends an interruption.
func (s *Simulator) Interrupt(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.disturbance.until = s.clock.Now().Add(d)
}

// Degrade makes a cluster operator Degraded until it is healed. An update stops at it, and after Options.FailingAfter the ClusterVersion is
// Failing. It fails when there is no such operator.
func (s *Simulator) Degrade(operator, message string) error {
	return s.trouble(operator, trouble{reason: "SimulatedDegraded", message: message})
}

// MakeUnavailable makes a cluster operator Available=False until it is healed. An update stops at it, and the ClusterVersion is Failing
// at once. It fails when there is no such operator.
func (s *Simulator) MakeUnavailable(operator, message string) error {
	return s.trouble(operator, trouble{unavailable: true, reason: "SimulatedUnavailable", message: message})
}

func (s *Simulator) trouble(operator string, t trouble) error {
	if !slices.Contains(s.options.Operators, operator) {
		return fmt.Errorf("there is no cluster operator %q", operator)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	t.since = s.clock.Now()
	s.disturbance.troubles[operator] = t
	return nil
}

// DegradePool has a machine of a pool, counted from 0, fail to take its next configuration, or the one that it is taking; the pool is
// Degraded from then on, until it is healed. It fails when there is no such machine.
func (s *Simulator) DegradePool(pool string, machine int) error {
	p, found := s.options.pool(pool)
	if !found || machine < 0 || machine >= p.Machines {
		return fmt.Errorf("there is no machine %d in a pool %q", machine, pool)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.disturbance.stuck[pool] = machine
	return nil
}

// Heal ends what is wrong with a cluster operator or a pool. It fails when there is neither of that name.
func (s *Simulator) Heal(name string) error {
	_, isPool := s.options.pool(name)
	if !isPool && !slices.Contains(s.options.Operators, name) {
		return fmt.Errorf("there is no cluster operator and no pool %q", name)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.disturbance.troubles, name)
	delete(s.disturbance.stuck, name)
	return nil
}

// Withdraw takes an update from those that are available. One that has begun goes on. It fails when the version was never published.
func (s *Simulator) Withdraw(version string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.ContainsFunc(s.disturbance.known, func(r configv1.Release) bool { return r.Version == version }) {
		return fmt.Errorf("there is no release %q", version)
	}
	s.disturbance.withdrawn[version] = true
	return nil
}

// Publish offers a release, or offers it again. Without an image it has that of Image; without channels it is in each. It fails
// when the version is none.
func (s *Simulator) Publish(r configv1.Release) error {
	if err := fill(&r); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	d := &s.disturbance
	d.known = slices.DeleteFunc(slices.Clone(d.known), func(k configv1.Release) bool { return k.Version == r.Version })
	d.known = append(d.known, r)
	delete(d.withdrawn, r.Version)
	return nil
}

func (o Options) pool(name string) (Pool, bool) {
	i := slices.IndexFunc(o.Pools, func(p Pool) bool { return p.Name == name })
	if i < 0 {
		return Pool{}, false
	}
	return o.Pools[i], true
}
