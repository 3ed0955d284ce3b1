package kubernetesupgrade

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/observe"
	"refit.dev/refit/internal/snapshot"
	"refit.dev/refit/internal/snapshot/fixture"
)

// town is an API server with workers that are to be brought from v1.36.1 to v1.36.3, and managers of which one leads.
type town struct {
	t        rapid.TB
	api      client.WithWatch
	clock    *clocktesting.FakePassiveClock
	limit    int
	workers  int
	managers []*townsman

	mu sync.Mutex
	// wrong says that the limit was passed, or that nobody could see. most were out at once; asks is how often the claims that are begun were asked
	// for, turns how many were taken.
	wrong             string
	most, asks, turns int
}

const townUpgrade = "upgrade"

func newTown(t rapid.TB, workers, limit, managers int) *town {
	t.Helper()
	u, most := fixture.Upgrade("v1.36.3"), intstr.FromInt(limit)
	u.UID, u.Spec.Plan = "uid", "plan"
	plan := &v1alpha1.RolloutPlan{ObjectMeta: metav1.ObjectMeta{Name: "plan"}, Spec: v1alpha1.RolloutPlanSpec{MaxUnavailable: &most, StagingParallelism: 4}}
	objects := []client.Object{u, plan}
	for i := range workers {
		name := fmt.Sprintf("w-%d", i)
		n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, UID: "uid"}}
		n.Status.NodeInfo.KubeletVersion = "v1.36.1"
		n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
		objects = append(objects, n)
	}
	town := &town{t: t, limit: limit, workers: workers, clock: clocktesting.NewFakePassiveClock(fixture.Now)}
	scheme := runtime.NewScheme() // the fewer kinds, the faster the fake is
	town.must(corev1.AddToScheme(scheme))
	town.must(v1alpha1.AddToScheme(scheme))
	town.api = fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).
		WithStatusSubresource(&v1alpha1.KubernetesUpgrade{}, &v1alpha1.NodeUpgrade{}, &v1alpha1.ControlPlaneUpgrade{}).Build()
	for range managers {
		m := &townsman{town: town}
		m.restart()
		m.catchUp(func() bool { return true })
		town.managers = append(town.managers, m)
	}
	return town
}

// townsman is a manager whose cache is behind, each object by as much as it likes.
type townsman struct {
	*town
	reconciler *Reconciler
	upgrade    v1alpha1.KubernetesUpgrade
	claims     map[string]*v1alpha1.NodeUpgrade
	nodes      map[string]*corev1.Node

	// beforeTurn and afterTurn are called around the next write of the upgrade's status, once.
	beforeTurn, afterTurn func()
	// lost is what becomes of the next writes, of the upgrade and of claims.
	lost []fate
	mu   sync.Mutex
}

// fate is what becomes of a write.
type fate int

const (
	done fate = iota
	// doneUnheard is a write that was done, and of which the manager hears that it was not answered.
	doneUnheard
	// notDone is a write that never arrived.
	notDone
)

var errNotAnswered = apierrors.NewTimeoutError("not answered", 1)

// restart forgets what the manager knows beside its cache, which a real one fills before it leads.
func (m *townsman) restart() {
	c := interceptor.NewClient(m.api, interceptor.Funcs{
		Update: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.UpdateOption) error {
			f := m.fate()
			if f == notDone {
				return errNotAnswered
			}
			err := c.Update(ctx, o, opts...)
			m.count()
			if err == nil && f == doneUnheard {
				return errNotAnswered
			}
			return err
		},
		SubResourceUpdate: func(ctx context.Context, c client.Client, sub string, o client.Object, opts ...client.SubResourceUpdateOption) error {
			before, after := m.beforeTurn, m.afterTurn
			m.beforeTurn, m.afterTurn = nil, nil
			f := m.fate()
			if f == notDone {
				return errNotAnswered
			}
			call(before)
			err := c.SubResource(sub).Update(ctx, o, opts...)
			call(after)
			if err == nil && f == doneUnheard {
				return errNotAnswered
			}
			return err
		},
	})
	live := interceptor.NewClient(m.api, interceptor.Funcs{List: m.ask})
	observer := &observe.Observer{Reader: townCache{m.api, m}, Kept: m, Live: live, Config: &rest.Config{Host: "https://127.0.0.1:1"}, Clock: m.clock}
	m.reconciler = &Reconciler{Client: c, Observer: healthy{observer}, Recorder: &events.FakeRecorder{}, Clock: m.clock}
}

func call(f func()) {
	if f != nil {
		f()
	}
}

func (m *townsman) fate() fate {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.lost) == 0 {
		return done
	}
	f := m.lost[0]
	m.lost = m.lost[1:]
	return f
}

// ask is the API server's answer where the claims that are begun are asked for.
func (m *townsman) ask(ctx context.Context, c client.WithWatch, l client.ObjectList, opts ...client.ListOption) error {
	list, ok := l.(*v1alpha1.NodeUpgradeList)
	if !ok {
		return c.List(ctx, l, opts...)
	}
	m.asks++
	for _, nu := range m.all() {
		if !nu.Spec.Hold && !nu.Status.Completed {
			list.Items = append(list.Items, *nu)
		}
	}
	return nil
}

// catchUp lets the cache have what the API server has, of those objects that are picked.
func (m *townsman) catchUp(picked func() bool) {
	if m.claims == nil {
		m.claims, m.nodes = map[string]*v1alpha1.NodeUpgrade{}, map[string]*corev1.Node{}
	}
	if picked() {
		m.must(m.api.Get(context.Background(), client.ObjectKey{Name: townUpgrade}, &m.upgrade))
	}
	for _, nu := range m.all() {
		if picked() {
			m.claims[nu.Name] = nu
		}
	}
	var nodes corev1.NodeList
	m.must(m.api.List(context.Background(), &nodes))
	for i := range nodes.Items {
		if picked() {
			m.nodes[nodes.Items[i].Name] = &nodes.Items[i]
		}
	}
}

// Nodes and NodeUpgrades are the cache's.
func (m *townsman) Nodes(context.Context) (out []*corev1.Node, err error) {
	for _, n := range m.nodes {
		out = append(out, n)
	}
	return out, nil
}

func (m *townsman) NodeUpgrades(context.Context) (out []*v1alpha1.NodeUpgrade, err error) {
	for _, nu := range m.claims {
		out = append(out, nu)
	}
	return out, nil
}

// townCache has the upgrade as the manager's cache has it.
type townCache struct {
	client.Reader
	m *townsman
}

func (c townCache) List(ctx context.Context, l client.ObjectList, opts ...client.ListOption) error {
	if list, ok := l.(*v1alpha1.KubernetesUpgradeList); ok {
		list.Items = []v1alpha1.KubernetesUpgrade{*c.m.upgrade.DeepCopy()}
		return nil
	}
	return c.Reader.List(ctx, l, opts...)
}

// healthy adds a control plane that is at the version and well, which takes more than an API server to be seen.
type healthy struct{ *observe.Observer }

func (h healthy) Cluster(ctx context.Context, f observe.Freshness) (*snapshot.Cluster, error) {
	c := fixture.Cluster(1, 0, "v1.36.3")
	seen, err := h.Observer.Cluster(ctx, f)
	if err != nil {
		return nil, err
	}
	c.Nodes = append(c.Nodes, seen.Nodes...)
	c.Now, c.NodeUpgrades, c.ControlPlaneUpgrades, c.Upgrades, c.Plans = seen.Now, seen.NodeUpgrades, seen.ControlPlaneUpgrades, seen.Upgrades, seen.Plans
	return c, nil
}

func (m *townsman) reconcile() {
	before := m.now().Status.Turn
	_, err := m.reconciler.Reconcile(context.Background(), ctrl.Request{NamespacedName: client.ObjectKey{Name: townUpgrade}})
	if err != nil && !errors.Is(err, errNotAnswered) {
		m.t.Fatalf("%v", err)
	}
	if m.now().Status.Turn > before {
		m.turns++
	}
	if m.wrong != "" {
		m.t.Fatalf("%s", m.wrong)
	}
}

// count counts the workers whose claims are begun. It is called by whoever writes, at once, and not by the test's own goroutine.
func (town *town) count() {
	town.mu.Lock()
	defer town.mu.Unlock()
	var list v1alpha1.NodeUpgradeList
	if err := town.api.List(context.Background(), &list); err != nil {
		town.wrong = err.Error()
		return
	}
	out := 0
	for i := range list.Items {
		if nu := &list.Items[i]; !nu.Spec.Hold && !nu.Status.Completed {
			out++
		}
	}
	if town.most = max(town.most, out); out > town.limit {
		town.wrong = fmt.Sprintf("%d workers are out, and %d may be", out, town.limit)
	}
}

func (town *town) all() (out []*v1alpha1.NodeUpgrade) {
	var list v1alpha1.NodeUpgradeList
	town.must(town.api.List(context.Background(), &list))
	for i := range list.Items {
		out = append(out, &list.Items[i])
	}
	return out
}

func (town *town) now() *v1alpha1.KubernetesUpgrade {
	var u v1alpha1.KubernetesUpgrade
	town.must(town.api.Get(context.Background(), client.ObjectKey{Name: townUpgrade}, &u))
	return &u
}

// tick takes a claim a step further, or the upgrade's control plane to its end.
func (town *town) tick(pick func(n int) int) {
	ctx := context.Background()
	var planes v1alpha1.ControlPlaneUpgradeList
	town.must(town.api.List(ctx, &planes))
	for i := range planes.Items {
		if u := &planes.Items[i]; !u.Status.Ready {
			u.Status.Ready, u.Status.ObservedGeneration = true, u.Generation
			town.must(town.api.Status().Update(ctx, u))
		}
	}
	claims := town.all()
	if len(claims) == 0 {
		return
	}
	nu := claims[pick(len(claims))]
	var n corev1.Node
	town.must(town.api.Get(ctx, client.ObjectKey{Name: nu.Spec.Machine.Name}, &n))
	nu.Status.NodeUID = string(n.UID)
	switch {
	case nu.Status.Completed:
		return
	case nu.Spec.Hold:
		nu.Status.Phase = v1alpha1.NodeStaged
	case nu.Status.Phase != v1alpha1.NodeUpgrading:
		nu.Status.Phase = v1alpha1.NodeUpgrading
	default:
		n.Status.NodeInfo.KubeletVersion = "v1.36.3"
		town.must(town.api.Status().Update(ctx, &n))
		nu.Status.Phase, nu.Status.Completed = v1alpha1.NodeCompleted, true
	}
	town.must(town.api.Status().Update(ctx, nu))
}

func (town *town) must(err error) {
	if err != nil {
		town.t.Helper()
		town.t.Fatalf("%v", err)
	}
}

// Of two managers each leads for a while, is stopped between what it saw and what it writes, loses answers, and has a cache that is behind: at no
// instant are more workers out than may be, and in the end all are done.
func TestTheLimitHoldsHoweverFarCachesAreBehind(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		town := newTown(rt, rapid.IntRange(3, 8).Draw(rt, "workers"), rapid.IntRange(1, 3).Draw(rt, "limit"), 2)
		leader := 0
		pick := func(n int) int { return rapid.IntRange(0, n-1).Draw(rt, "claim") }
		takeover := func() {
			leader = 1 - leader
			town.clock.SetTime(town.clock.Now().Add(31 * time.Second))
			town.managers[leader].catchUp(func() bool { return rapid.Bool().Draw(rt, "caught up") })
			town.managers[leader].reconcile()
		}
		for range rapid.IntRange(20, 80).Draw(rt, "length") {
			m := town.managers[leader]
			switch e := rapid.IntRange(0, 99).Draw(rt, "event"); {
			case e < 35:
				if e < 8 {
					m.lost = rapid.SliceOfN(rapid.SampledFrom([]fate{done, doneUnheard, notDone}), 1, 4).Draw(rt, "lost")
				}
				m.reconcile()
				m.lost = nil
			case e < 65:
				town.tick(pick)
			case e < 85:
				town.managers[rapid.IntRange(0, 1).Draw(rt, "manager")].catchUp(func() bool { return rapid.IntRange(0, 3).Draw(rt, "caught up") > 0 })
			case e < 90:
				town.clock.SetTime(town.clock.Now().Add(time.Duration(rapid.IntRange(1, 20).Draw(rt, "seconds")) * time.Second))
			case e < 93:
				m.beforeTurn = takeover
				m.reconcile()
				m.beforeTurn = nil
			case e < 95:
				m.afterTurn = takeover
				m.reconcile()
				m.afterTurn = nil
			case e < 99:
				leader = 1 - leader // it was given up between two reconciles
				if rapid.Bool().Draw(rt, "sees the upgrade") {
					town.managers[leader].upgrade = *town.now()
				}
			default:
				m.restart()
			}
		}
		for i := 0; town.now().Status.State != v1alpha1.StateUpgradeComplete; i++ {
			if i > 40*town.workers {
				rt.Fatalf("it does not end: %+v", town.now().Status)
			}
			town.managers[leader].catchUp(func() bool { return true })
			town.managers[leader].reconcile()
			town.tick(func(n int) int { return i % n })
		}
	})
}

// The manager that led before knows the upgrade as the other one left it, and not what that one began.
func TestWhatAnotherManagerBeganIsAskedFor(t *testing.T) {
	for what, counts := range map[string]bool{"at once": false, "after it only counted": true} {
		t.Run(what, func(t *testing.T) {
			g, town := NewWithT(t), newTown(t, 6, 2, 2)
			a, b := town.managers[0], town.managers[1]
			everything := func() bool { return true }
			begun := func() (out []*v1alpha1.NodeUpgrade) {
				for _, nu := range town.all() {
					if !nu.Spec.Hold && !nu.Status.Completed {
						out = append(out, nu)
					}
				}
				return out
			}
			completes := func(nu *v1alpha1.NodeUpgrade) {
				for !nu.Status.Completed {
					town.tick(func(int) int {
						return slices.IndexFunc(town.all(), func(o *v1alpha1.NodeUpgrade) bool { return o.Name == nu.Name })
					})
					town.must(town.api.Get(t.Context(), client.ObjectKeyFromObject(nu), nu))
				}
			}
			for i := 0; len(begun()) < 2; i++ {
				g.Expect(i).To(BeNumerically("<", 50))
				a.catchUp(everything)
				a.reconcile()
				for j := range town.all() {
					if town.all()[j].Spec.Hold {
						town.tick(func(int) int { return j })
					}
				}
			}
			first := begun()
			completes(first[0])
			b.catchUp(everything)
			b.reconcile()
			g.Expect(begun()).To(HaveLen(2), "the other one began the next")

			a.upgrade = *town.now()
			if counts {
				a.nodes["w-5"].Spec.Unschedulable = true // there is one node out that nobody else sees
				a.reconcile()
				a.nodes["w-5"].Spec.Unschedulable = false
				a.upgrade = *town.now()
			}
			completes(first[1])
			for _, nu := range town.all() {
				if others := begun()[0]; nu.Name != others.Name {
					a.claims[nu.Name] = nu
					a.must(town.api.Get(t.Context(), client.ObjectKey{Name: nu.Spec.Machine.Name}, a.nodes[nu.Spec.Machine.Name]))
				}
			}
			g.Expect(begun()).To(HaveLen(1))
			delete(a.claims, begun()[0].Name) // or it would be begun anew, which is refused
			a.reconcile()
			g.Expect(begun()).To(HaveLen(2), "one more was begun, beside that of the other manager")
		})
	}
}

// A manager that leads alone asks the API server at its first turn, and then once in half a minute, however far its cache is behind with what it
// has begun itself.
func TestWhoeverLeadsAloneAsksNoMoreThanOnceInHalfAMinute(t *testing.T) {
	g, town := NewWithT(t), newTown(t, 12, 2, 1)
	m := town.managers[0]
	for i := 0; town.now().Status.State != v1alpha1.StateUpgradeComplete; i++ {
		if i > 500 {
			t.Fatalf("it does not end: %+v", town.now().Status)
		}
		m.catchUp(func() bool { return i%3 == 0 })
		m.must(town.api.Get(t.Context(), client.ObjectKey{Name: townUpgrade}, &m.upgrade))
		m.reconcile()
		town.tick(func(n int) int { return i % n })
		town.clock.SetTime(town.clock.Now().Add(100 * time.Millisecond))
	}
	g.Expect(town.most).To(Equal(2))
	g.Expect(town.turns).To(BeNumerically(">=", 6))
	g.Expect(town.asks).To(BeNumerically("<=", 1+int(town.clock.Since(fixture.Now)/(30*time.Second))), "in %s", town.clock.Since(fixture.Now))
}
