package simulator

import (
	"context"
	"sync"
	"testing"

	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"
)

func TestRunTakesAStepAtEachTickUntilItsContextEnds(t *testing.T) {
	p := newPlay(t, Options{Pools: pools, Tick: unit})
	ctx, stop := context.WithCancel(p.ctx)
	ended := make(chan error)
	go func() { ended <- p.Run(ctx) }()
	p.Eventually(p.clock.HasWaiters, "10s").Should(BeTrue())
	p.want(&configv1.Update{Version: to})
	var both sync.WaitGroup
	both.Go(func() {
		for range 20 {
			_ = p.Slow(1)
			_ = p.Degrade("dns", "")
			_ = p.Heal("dns")
			_ = p.Publish(configv1.Release{Version: "4.16.9"})
			p.Interrupt(0)
		}
	})
	p.Eventually(func() bool {
		p.clock.Step(unit)
		return p.completed(to)()
	}, "60s", "5ms").Should(BeTrue())
	both.Wait()
	stop()
	p.Eventually(ended, "10s").Should(Receive(BeNil()))
}

func TestAStepWithoutAClusterSaysWhatIsMissing(t *testing.T) {
	p := unseeded(t, Options{})
	p.Expect(p.Simulator.Step(p.ctx)).To(MatchError(ContainSubstring("read the ClusterVersion")))
}

func TestOptionsThatMakeNoSenseAreRefused(t *testing.T) {
	g := NewWithT(t)
	for _, o := range []Options{
		{},
		{Version: "latest"},
		{Version: from, AvailableUpdates: []configv1.Release{{Version: "next"}}},
		{Version: from, Pools: []Pool{{Machines: 1}}},
		{Version: from, Pools: []Pool{{Name: "worker", Machines: -1}}},
	} {
		_, err := o.withDefaults()
		g.Expect(err).To(HaveOccurred())
	}
	o, err := Options{Version: from}.withDefaults()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(o.Operators[len(o.Operators)-1]).To(Equal(MachineConfig))
	g.Expect(o.FailingAfter).To(Equal(3 * DefaultOperatorTime))
}
