package simulator

import (
	"testing"

	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"
	machinev1 "github.com/openshift/api/machineconfiguration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
)

func TestAPausedPoolHoldsAndGoesOn(t *testing.T) {
	p := newPlay(t, Options{Pools: pools})
	p.pause("worker", true)
	p.want(&configv1.Update{Version: to})
	p.until("completed", p.completed(to))
	for range 5 {
		p.step()
	}
	worker := p.pool("worker")
	p.Expect(worker.Spec.Paused).To(BeTrue())
	p.Expect(worker.Spec.Configuration.Name).To(Equal(Rendered("worker", to)))
	p.Expect(worker.Status.Configuration.Name).To(Equal(Rendered("worker", from)))
	p.Expect(worker.Status.UpdatedMachineCount).To(BeZero())
	p.Expect(worker.Status.UnavailableMachineCount).To(BeZero())
	p.Expect(p.poolIs("worker", machinev1.MachineConfigPoolUpdated)).To(BeFalse())
	p.Expect(p.poolIs("worker", machinev1.MachineConfigPoolUpdating)).To(BeFalse())

	p.pause("worker", false)
	p.until("at work", func() bool { return p.poolIs("worker", machinev1.MachineConfigPoolUpdating) })
	p.until("two machines", func() bool { return p.pool("worker").Status.UpdatedMachineCount == 2 })
	p.pause("worker", true)
	p.step()
	p.step()
	p.Expect(p.pool("worker").Status.UpdatedMachineCount).To(BeEquivalentTo(3), "the machine that had begun gets there")
	p.Expect(p.pool("worker").Status.UnavailableMachineCount).To(BeZero())
	p.pause("worker", false)
	p.until("the workers", p.updated("worker", to))
}

func TestAnUpdateWaitsForMastersThatArePaused(t *testing.T) {
	p := newPlay(t, Options{Pools: pools})
	p.pause(MasterPool, true)
	p.want(&configv1.Update{Version: to})
	p.until("the workers", p.updated("worker", to))
	p.Expect(p.completed(to)()).To(BeFalse())
	p.Expect(p.condition(configv1.OperatorProgressing).Message).To(HaveSuffix("waiting on machine-config"))
	p.pause(MasterPool, false)
	p.until("completed", p.completed(to))
}

func TestPoolsOfDifferentSizesTakeTheirTime(t *testing.T) {
	third, two := intstr.FromString("34%"), intstr.FromInt32(2)
	p := newPlay(t, Options{Pools: []Pool{
		{Name: "infra", Machines: 3, MaxUnavailable: &third},
		{Name: "app", Machines: 6, MaxUnavailable: &two, Labels: map[string]string{"name": "x-app-night-maintenance"}},
		{Name: "none", Machines: 0},
	}})
	p.Expect(p.pool("app").Labels).To(HaveKeyWithValue("name", "x-app-night-maintenance"))
	p.want(&configv1.Update{Version: to})
	p.until("completed, as there are no masters to wait for", p.completed(to))
	p.Expect(p.pool("app").Status.UnavailableMachineCount).To(BeEquivalentTo(2))
	p.Expect(p.pool("infra").Status.UnavailableMachineCount).To(BeEquivalentTo(1))
	p.Expect(p.updated("none", to)()).To(BeTrue())
	p.Expect(p.until("infra", p.updated("infra", to))).To(Equal(3))
	p.Expect(p.updated("app", to)()).To(BeTrue(), "6 machines two at a time take as long as 3 one at a time")
}

func TestAPoolThatSomebodyElseMakesHasNoMachines(t *testing.T) {
	p := newPlay(t, Options{Pools: pools})
	p.Expect(p.c.Create(p.ctx, &machinev1.MachineConfigPool{ObjectMeta: metav1.ObjectMeta{Name: "theirs"}})).To(Succeed())
	p.step()
	p.Expect(p.updated("theirs", from)()).To(BeTrue())
}

func TestAPoolIsDegradedWhileAMachineCannotTakeItsConfiguration(t *testing.T) {
	p := newPlay(t, Options{Pools: pools})
	p.Expect(p.DegradePool("worker", 2)).To(Succeed())
	p.Expect(p.DegradePool("worker", 5)).To(MatchError(ContainSubstring("no machine 5")))
	p.want(&configv1.Update{Version: to})
	p.until("degraded", func() bool { return p.poolIs("worker", machinev1.MachineConfigPoolDegraded) })
	for range 5 {
		p.step()
	}
	status := p.pool("worker").Status
	p.Expect(status.UpdatedMachineCount).To(BeEquivalentTo(2))
	p.Expect(status.DegradedMachineCount).To(BeEquivalentTo(1))
	p.Expect(p.completed(to)()).To(BeTrue(), "the workers do not hold the update up")
	p.Expect(p.Heal("worker")).To(Succeed())
	p.until("the workers", p.updated("worker", to))
	p.Expect(p.poolIs("worker", machinev1.MachineConfigPoolDegraded)).To(BeFalse())
}

func TestDegradedMastersMakeTheUpdateFail(t *testing.T) {
	p := newPlay(t, Options{Pools: pools})
	p.Expect(p.DegradePool(MasterPool, 0)).To(Succeed())
	p.want(&configv1.Update{Version: to})
	p.until("failing", func() bool { return p.is(failing) })
	p.Expect(p.condition(failing).Message).To(Equal("Cluster operator machine-config is degraded"))
	p.Expect(p.Heal(MasterPool)).To(Succeed())
	p.until("completed", p.completed(to))
	p.Expect(p.is(failing)).To(BeFalse())
}

func TestAnnotationsOfOthersStay(t *testing.T) {
	p := newPlay(t, Options{Pools: pools})
	v := p.version()
	metav1.SetMetaDataAnnotation(&v.ObjectMeta, "lock", "a-job")
	v.Spec.DesiredUpdate, v.Labels = &configv1.Update{Version: to}, map[string]string{"of": "others"}
	p.Expect(p.c.Update(p.ctx, v)).To(Succeed())
	worker := p.pool("worker")
	metav1.SetMetaDataAnnotation(&worker.ObjectMeta, "paused-by", "a-job")
	worker.Spec.MaxUnavailable = ptr.To(intstr.FromInt32(3))
	p.Expect(p.c.Update(p.ctx, worker)).To(Succeed())
	p.until("completed", p.completed(to))
	p.until("the workers", p.updated("worker", to))
	p.Expect(p.version().Annotations).To(HaveKeyWithValue("lock", "a-job"))
	p.Expect(p.version().Labels).To(HaveKeyWithValue("of", "others"))
	p.Expect(p.pool("worker").Annotations).To(HaveKeyWithValue("paused-by", "a-job"))
	p.Expect(p.pool("worker").Spec.MaxUnavailable.IntValue()).To(Equal(3))
}
