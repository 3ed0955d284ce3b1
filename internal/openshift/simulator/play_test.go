package simulator

import (
	"context"
	"os"
	"sync"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"
	machinev1 "github.com/openshift/api/machineconfiguration/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"refit.dev/refit/internal/openshift/crd"
	"refit.dev/refit/internal/testcluster"
)

// unit is how long everything takes in these tests: an operator, a machine, and the time between two steps.
const unit = time.Minute

const (
	from = "4.16.2"
	to   = "4.16.3"
	next = "4.16.4"
)

func TestMain(m *testing.M) { os.Exit(testcluster.Main(m)) }

var (
	install    sync.Once
	errInstall error
)

// play is a simulated cluster whose time the test moves.
type play struct {
	*Simulator
	*WithT
	ctx   context.Context
	c     client.WithWatch
	clock *clocktesting.FakeClock
	lines []string
}

// newPlay seeds a cluster; what the options leave out is small.
func newPlay(t *testing.T, o Options) *play {
	t.Helper()
	p := unseeded(t, o)
	p.Expect(p.Seed(p.ctx)).To(Succeed())
	return p
}

func unseeded(t *testing.T, o Options) *play {
	t.Helper()
	cluster := testcluster.Start(t)
	install.Do(func() { errInstall = crd.Install(context.Background(), cluster.Config) })
	scheme := runtime.NewScheme()
	p := &play{WithT: NewWithT(t), ctx: t.Context(), clock: clocktesting.NewFakeClock(time.Date(2026, 11, 21, 22, 0, 0, 0, time.UTC))}
	p.Expect(errInstall).NotTo(HaveOccurred())
	p.Expect(AddToScheme(scheme)).To(Succeed())
	c, err := client.NewWithWatch(cluster.Config, client.Options{Scheme: scheme})
	p.Expect(err).NotTo(HaveOccurred())
	p.c = c
	t.Cleanup(func() { clear(t, c) })
	p.Simulator = p.simulator(c, o)
	return p
}

// simulator makes one that reports to the play.
func (p *play) simulator(c client.Client, o Options) *Simulator {
	if o.Version == "" {
		o.Version = from
	}
	if len(o.AvailableUpdates) == 0 {
		o.AvailableUpdates = []configv1.Release{{Version: to}, {Version: next}, {Version: "4.16.1"}}
	}
	if len(o.Operators) == 0 {
		o.Operators = []string{"etcd", "dns"}
	}
	o.OperatorTime, o.MachineTime = unit, unit
	o.Report = func(line string) { p.lines = append(p.lines, line) }
	s, err := New(c, p.clock, o)
	p.Expect(err).NotTo(HaveOccurred())
	return s
}

func clear(t *testing.T, c client.Client) {
	t.Helper()
	g := NewWithT(t)
	for _, o := range []client.Object{&configv1.ClusterVersion{}, &configv1.ClusterOperator{}, &machinev1.MachineConfigPool{}} {
		g.Expect(c.DeleteAllOf(context.Background(), o)).To(Succeed())
	}
}

// step lets a unit of time go by, has the operators act once, and checks what must hold at every instant.
func (p *play) step() {
	p.clock.Step(unit)
	p.Expect(p.Step(p.ctx)).To(Succeed())
	p.sound()
}

// until takes steps until it is so, and gives how many it took.
func (p *play) until(what string, so func() bool) int {
	for n := range 60 {
		if so() {
			return n
		}
		p.step()
	}
	p.Expect(so()).To(BeTrue(), "never: "+what)
	return 0
}

// sound checks the invariants of the two operators.
func (p *play) sound() {
	v := p.version()
	newest := v.Status.History[0]
	p.Expect(newest.Version).To(Equal(v.Status.Desired.Version))
	p.Expect(p.is(configv1.OperatorAvailable)).To(BeTrue(), "the cluster stays available")
	p.Expect(newest.CompletionTime == nil).To(Equal(newest.State == configv1.PartialUpdate))
	for i, h := range v.Status.History {
		if i > 0 {
			p.Expect(h.CompletionTime).NotTo(BeNil(), "what is not the newest has ended")
			p.Expect(h.StartedTime.After(v.Status.History[i-1].StartedTime.Time)).To(BeFalse(), "the newest is first")
		}
	}
	working := 0
	for _, name := range p.options.Operators {
		if p.operatorIs(name, configv1.OperatorProgressing) {
			working++
		}
	}
	p.Expect(working).To(BeNumerically("<=", 1), "operators take a version one after another")
	var pools machinev1.MachineConfigPoolList
	p.Expect(p.c.List(p.ctx, &pools)).To(Succeed())
	for _, pool := range pools.Items {
		most, err := atOnce(&pool, int(pool.Status.MachineCount))
		p.Expect(err).NotTo(HaveOccurred())
		p.Expect(int(pool.Status.UnavailableMachineCount)).To(BeNumerically("<=", most), pool.Name)
		p.Expect(pool.Status.UpdatedMachineCount+pool.Status.UnavailableMachineCount).To(BeNumerically("<=", pool.Status.MachineCount), pool.Name)
	}
}
