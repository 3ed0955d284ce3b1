package simulator

import (
	"testing"

	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"
	machinev1 "github.com/openshift/api/machineconfiguration/v1"
)

var pools = []Pool{{Name: MasterPool, Machines: 3}, {Name: "worker", Machines: 5}}

func TestASeededClusterIsSound(t *testing.T) {
	p := newPlay(t, Options{Pools: pools, History: []configv1.UpdateHistory{}})
	p.Expect(p.Seed(p.ctx)).To(Succeed(), "seeding twice is fine")
	before := p.version().ResourceVersion
	p.Expect(p.available()).To(Equal([]string{next, to}), "only what is above the cluster's version, the highest first")
	p.Expect(p.condition(configv1.OperatorProgressing).Message).To(Equal("Cluster version is " + from))
	p.Expect(p.is(failing)).To(BeFalse())
	p.Expect(p.updated("worker", from)()).To(BeTrue())
	p.Expect(p.pool("worker").Status.ReadyMachineCount).To(BeEquivalentTo(5))
	p.step()
	p.Expect(p.version().ResourceVersion).To(Equal(before), "a cluster that nobody updates is left alone")
	p.Expect(p.lines).To(BeEmpty())
}

func TestAWholeUpdate(t *testing.T) {
	p := newPlay(t, Options{Pools: pools})
	p.want(&configv1.Update{Version: to})
	p.step()
	v := p.version()
	p.Expect(v.Status.Desired).To(Equal(configv1.Release{Version: to, Image: Image(to)}))
	p.Expect(v.Status.ObservedGeneration).To(Equal(v.Generation))
	p.Expect(v.Status.History).To(HaveLen(2))
	p.Expect(v.Status.History[0].State).To(Equal(configv1.PartialUpdate))
	p.Expect(p.is(configv1.OperatorProgressing)).To(BeTrue())
	p.Expect(p.condition(configv1.OperatorProgressing).Message).To(MatchRegexp(`^Working towards 4\.16\.3: \d+ of 900 done \(\d+% complete\), waiting on etcd$`))
	p.Expect(p.operatorIs("etcd", configv1.OperatorProgressing)).To(BeTrue())

	p.until("machine-config's turn", func() bool { return p.operatorIs(MachineConfig, configv1.OperatorProgressing) })
	p.Expect(p.operatorAt("dns")).To(Equal(to))
	p.Expect(p.operatorAt(MachineConfig)).To(Equal(from), "machine-config is last")
	p.Expect(p.pool(MasterPool).Spec.Configuration.Name).To(Equal(Rendered(MasterPool, from)))

	p.until("completed", p.completed(to))
	p.Expect(p.updated(MasterPool, to)()).To(BeTrue(), "the update waits for the masters")
	p.Expect(p.updated("worker", to)()).To(BeFalse(), "but not for the workers")
	p.Expect(p.poolIs("worker", machinev1.MachineConfigPoolUpdating)).To(BeTrue())
	p.Expect(p.is(configv1.OperatorProgressing)).To(BeFalse())
	p.Expect(p.condition(configv1.OperatorAvailable).Message).To(Equal("Done applying " + to))
	p.Expect(p.available()).To(Equal([]string{next}))
	p.until("the workers", p.updated("worker", to))
	p.Expect(p.lines).To(ContainElement("ClusterVersion: begins to go to " + to))
	p.Expect(p.lines).To(ContainElement("MachineConfigPool worker: 5 of 5 machines are updated, 0 unavailable"))
}

func TestAnUpdateThatIsPointedElsewhereStartsAgain(t *testing.T) {
	p := newPlay(t, Options{Pools: pools})
	p.want(&configv1.Update{Version: to})
	p.until("half of it", func() bool { return p.operatorAt("etcd") == to })
	p.want(&configv1.Update{Version: next, Image: Image(next)})
	p.step()
	h := p.version().Status.History
	p.Expect(h).To(HaveLen(3))
	p.Expect(h[0].Version).To(Equal(next))
	p.Expect(h[1].State).To(Equal(configv1.PartialUpdate))
	p.Expect(h[1].CompletionTime.Time).To(Equal(h[0].StartedTime.Time))
	p.until("completed", p.completed(next))
	p.Expect(p.operatorAt("etcd")).To(Equal(next))
	p.until("the workers", p.updated("worker", next))
}

func TestAnUpdateMayGoBackToWhereItCameFrom(t *testing.T) {
	p := newPlay(t, Options{Pools: pools})
	p.want(&configv1.Update{Version: to})
	p.until("masters at work", func() bool { return p.poolIs(MasterPool, machinev1.MachineConfigPoolUpdating) })
	p.want(&configv1.Update{Version: from})
	p.until("completed", p.completed(from))
	p.until("the workers", p.updated("worker", from))
	p.Expect(p.updated(MasterPool, from)()).To(BeTrue())
	p.Expect(p.available()).To(Equal([]string{next, to}))
}

func TestAnotherSimulatorGoesOnWithAnUpdate(t *testing.T) {
	p := newPlay(t, Options{Pools: pools})
	p.want(&configv1.Update{Version: to})
	p.until("some workers", func() bool { return p.pool("worker").Status.UpdatedMachineCount == 2 })
	p.Simulator = p.simulator(p.c, Options{Pools: pools})
	p.Expect(p.Seed(p.ctx)).To(Succeed())
	p.step()
	p.Expect(p.pool("worker").Status.UpdatedMachineCount).To(BeNumerically(">=", 2))
	p.until("completed", p.completed(to))
	p.until("the workers", p.updated("worker", to))
}
