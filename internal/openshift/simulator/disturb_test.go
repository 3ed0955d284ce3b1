package simulator

import (
	"testing"

	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"
)

func TestAnInterruptedUpdateGoesOnWhereItWas(t *testing.T) {
	p := newPlay(t, Options{Pools: pools})
	p.want(&configv1.Update{Version: to})
	p.until("half of it", func() bool { return p.operatorAt("etcd") == to })
	before := p.version().Status
	p.Interrupt(5 * unit)
	p.want(&configv1.Update{Version: next})
	for range 4 {
		p.step()
	}
	v := p.version()
	p.Expect(v.Status).To(Equal(before), "nobody looks at the spec")
	p.Expect(v.Status.ObservedGeneration).To(BeNumerically("<", v.Generation))
	p.want(&configv1.Update{Version: to})
	p.until("completed", p.completed(to))
	p.Expect(p.version().Status.History).To(HaveLen(2))
}

func TestAnInterruptionCanBeEnded(t *testing.T) {
	p := newPlay(t, Options{})
	p.Interrupt(1000 * unit)
	p.want(&configv1.Update{Version: to})
	p.step()
	p.Expect(p.version().Status.Desired.Version).To(Equal(from))
	p.Interrupt(0)
	p.step()
	p.Expect(p.version().Status.Desired.Version).To(Equal(to))
}

func TestASlowUpdateTakesLonger(t *testing.T) {
	p := newPlay(t, Options{})
	p.want(&configv1.Update{Version: to})
	usual := p.until("completed", p.completed(to))
	p.Expect(p.Slow(3)).To(Succeed())
	p.want(&configv1.Update{Version: next})
	p.Expect(p.until("completed", p.completed(next)) - 1).To(Equal(3 * (usual - 1)))
	p.Expect(p.Slow(0)).NotTo(Succeed())
}

func TestADegradedOperatorHoldsTheUpdateAndMakesItFail(t *testing.T) {
	p := newPlay(t, Options{})
	p.want(&configv1.Update{Version: to})
	p.step()
	p.Expect(p.Degrade("etcd", "one member is slow")).To(Succeed())
	p.step()
	p.Expect(p.operatorIs("etcd", configv1.OperatorDegraded)).To(BeTrue())
	p.Expect(p.is(failing)).To(BeFalse(), "not yet")
	p.Expect(p.until("failing", func() bool { return p.is(failing) })).To(Equal(2))
	p.Expect(p.condition(failing).Message).To(Equal("Cluster operator etcd is degraded"))
	p.Expect(p.condition(failing).Reason).To(Equal("ClusterOperatorDegraded"))
	p.Expect(p.condition(configv1.OperatorProgressing).Message).To(Equal("Unable to apply 4.16.3: the cluster operator etcd is degraded"))
	p.Expect(p.operatorAt("etcd")).To(Equal(from))
	p.Expect(p.Heal("etcd")).To(Succeed())
	p.step()
	p.Expect(p.is(failing)).To(BeFalse())
	p.until("completed", p.completed(to))
}

func TestAnOperatorThatIsNotAvailableMakesTheClusterVersionFailAtOnce(t *testing.T) {
	p := newPlay(t, Options{})
	p.Expect(p.MakeUnavailable("dns", "no endpoints")).To(Succeed())
	p.step()
	p.Expect(p.operatorIs("dns", configv1.OperatorAvailable)).To(BeFalse())
	p.Expect(p.condition(failing).Message).To(Equal("Cluster operator dns is not available"))
	p.Expect(p.condition(configv1.OperatorProgressing).Message).To(Equal("Error while reconciling 4.16.2: the cluster operator dns is not available"))
	p.want(&configv1.Update{Version: to})
	p.until("the turn of dns", func() bool { return p.operatorAt("etcd") == to })
	p.step()
	p.Expect(p.operatorAt("dns")).To(Equal(from))
	p.Expect(p.Heal("dns")).To(Succeed())
	p.until("completed", p.completed(to))
}

func TestWhoIsNotThereCannotBeDisturbed(t *testing.T) {
	p := newPlay(t, Options{Pools: pools})
	p.Expect(p.Degrade("nobody", "")).To(MatchError(`there is no cluster operator "nobody"`))
	p.Expect(p.MakeUnavailable("nobody", "")).NotTo(Succeed())
	p.Expect(p.Heal("nobody")).NotTo(Succeed())
	p.Expect(p.DegradePool("nobody", 0)).NotTo(Succeed())
	p.Expect(p.Withdraw("4.99.0")).NotTo(Succeed())
	p.Expect(p.Publish(configv1.Release{Version: "latest"})).NotTo(Succeed())
}

func TestAnUpdateThatIsWithdrawnIsRefusedUnlessItHasBegun(t *testing.T) {
	p := newPlay(t, Options{})
	p.want(&configv1.Update{Version: to})
	p.step()
	p.Expect(p.Withdraw(to)).To(Succeed())
	p.Expect(p.Withdraw(next)).To(Succeed())
	p.until("completed all the same", p.completed(to))
	p.Expect(p.available()).To(BeEmpty())
	p.want(&configv1.Update{Version: next})
	p.step()
	p.Expect(p.is(releaseAccepted)).To(BeFalse())
	p.Expect(p.version().Status.Desired.Version).To(Equal(to))
	p.Expect(p.Publish(configv1.Release{Version: next})).To(Succeed())
	p.until("completed", p.completed(next))
}

func TestUpdatesArePublishedInChannels(t *testing.T) {
	p := newPlay(t, Options{AvailableUpdates: []configv1.Release{{Version: to, Channels: []string{DefaultChannel}}}})
	p.Expect(p.Publish(configv1.Release{Version: "4.17.0", Channels: []string{"stable-4.17"}})).To(Succeed())
	p.step()
	p.Expect(p.available()).To(Equal([]string{to}))
	for channel, are := range map[string][]string{"stable-4.17": {"4.17.0"}, DefaultChannel: {to}, "": nil} {
		v := p.version()
		v.Spec.Channel = channel
		p.Expect(p.c.Update(p.ctx, v)).To(Succeed())
		p.step()
		p.Expect(p.available()).To(Equal(are), channel)
		p.Expect(p.is(retrievedUpdates)).To(Equal(channel != ""))
	}
}
