package observe

import (
	"context"
	"slices"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"refit.dev/refit/api/v1alpha1"
)

// empty is a cache that has nothing yet, and an API server that counts how often it is asked.
type empty struct {
	client.Reader
	claims []*v1alpha1.NodeUpgrade
	asked  int
}

func (*empty) Nodes(context.Context) ([]*corev1.Node, error) { return nil, nil }

func (e *empty) NodeUpgrades(context.Context) ([]*v1alpha1.NodeUpgrade, error) {
	return slices.Clone(e.claims), nil
}

func (e *empty) List(_ context.Context, l client.ObjectList, _ ...client.ListOption) error {
	e.asked++
	l.(*v1alpha1.NodeUpgradeList).Items = []v1alpha1.NodeUpgrade{*claimAt("begun", "7")}
	return nil
}

func TestWhatIsKnownIsAskedForAgainAfterHalfAMinute(t *testing.T) {
	g, e, clk := NewWithT(t), &empty{}, clocktesting.NewFakePassiveClock(time.Unix(1000, 0))
	o := &Observer{Kept: e, Live: e, Clock: clk}
	look := func(f Freshness) []*v1alpha1.NodeUpgrade {
		claims, err := o.nodeUpgrades(t.Context(), f)
		g.Expect(err).NotTo(HaveOccurred())
		return claims
	}
	g.Expect(look(Cached)).To(BeEmpty())
	g.Expect(e.asked).To(BeZero())
	for after, asked := range []int{1, 1, 1, 2, 2} { // each 15 s later
		g.Expect(look(Known)).To(ConsistOf(claimAt("begun", "7")))
		g.Expect(e.asked).To(Equal(asked), "after %d s", 15*after)
		clk.SetTime(clk.Now().Add(15 * time.Second))
	}
	look(Fresh)
	g.Expect(e.asked).To(Equal(3), "fresh is always asked for")
}

func TestWhatWasWrittenIsKnownUntilTheCacheHasIt(t *testing.T) {
	g, e, clk := NewWithT(t), &empty{}, clocktesting.NewFakePassiveClock(time.Unix(1000, 0))
	o := &Observer{Kept: e, Live: e, Clock: clk}
	look := func() []*v1alpha1.NodeUpgrade {
		claims, err := o.nodeUpgrades(t.Context(), Cached)
		g.Expect(err).NotTo(HaveOccurred())
		return claims
	}
	var gone *v1alpha1.NodeUpgrade
	o.Wrote(nil, gone, &corev1.Node{}, claimAt("a", "9"))
	o.Wrote(claimAt("a", "8"))
	g.Expect(look()).To(ConsistOf(claimAt("a", "9")))
	e.claims = []*v1alpha1.NodeUpgrade{claimAt("a", "8")}
	g.Expect(look()).To(ConsistOf(claimAt("a", "9")))
	e.claims = []*v1alpha1.NodeUpgrade{claimAt("a", "10")}
	g.Expect(look()).To(ConsistOf(claimAt("a", "10")))
	e.claims = nil
	g.Expect(look()).To(BeEmpty(), "it was deleted since")
}

// between has another look, by which the cache has what was known, happen between this one's look at what is known and its look at the cache.
type between struct {
	*empty
	look func()
}

func (b *between) NodeUpgrades(ctx context.Context) ([]*v1alpha1.NodeUpgrade, error) {
	before, err := b.empty.NodeUpgrades(ctx)
	if look := b.look; look != nil {
		b.look = nil
		look()
	}
	return before, err
}

func TestWhatAnotherLookForgetsIsNotHiddenFromThisOne(t *testing.T) {
	g, b, clk := NewWithT(t), &between{empty: &empty{}}, clocktesting.NewFakePassiveClock(time.Unix(1000, 0))
	o := &Observer{Kept: b, Live: b, Clock: clk}
	look := func() []*v1alpha1.NodeUpgrade {
		claims, err := o.nodeUpgrades(t.Context(), Cached)
		g.Expect(err).NotTo(HaveOccurred())
		return claims
	}
	b.claims = []*v1alpha1.NodeUpgrade{claimAt("a", "8")}
	o.Wrote(claimAt("a", "9"))
	b.look = func() {
		b.claims = []*v1alpha1.NodeUpgrade{claimAt("a", "9")}
		look()
	}
	g.Expect(look()).To(ConsistOf(claimAt("a", "9")))
	g.Expect(o.known.claims).To(BeEmpty())
}

// Of two questions at once the one that was asked first may be answered later.
func TestAnAnswerDoesNotUndoALaterOne(t *testing.T) {
	g, at := NewWithT(t), func(s int64) time.Time { return time.Unix(s, 0) }
	var k known
	k.answered(at(1), at(5), []*v1alpha1.NodeUpgrade{claimAt("begun", "7")})
	k.answered(at(2), at(6), nil)
	g.Expect(k.all(at(7))).To(HaveKey("begun"))
	k.answered(at(8), at(9), nil)
	g.Expect(k.all(at(9))).To(BeEmpty())
}

// A claim that is deleted before the cache ever had it is nowhere to be seen again.
func TestWhatIsKnownIsForgottenWhereTheCacheNeverGetsIt(t *testing.T) {
	g, e, clk := NewWithT(t), &empty{}, clocktesting.NewFakePassiveClock(time.Unix(1000, 0))
	o := &Observer{Kept: e, Live: e, Clock: clk}
	o.Wrote(claimAt("deleted", "9"))
	clk.SetTime(clk.Now().Add(time.Second))
	claims, err := o.nodeUpgrades(t.Context(), Fresh)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(claims).To(ConsistOf(claimAt("begun", "7")), "the API server does not have it any more")

	o = &Observer{Kept: e, Live: e, Clock: clk}
	o.Wrote(claimAt("deleted", "9"))
	clk.SetTime(clk.Now().Add(2*knownFor + time.Second))
	_, err = o.nodeUpgrades(t.Context(), Cached)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(o.known.claims).To(BeEmpty())
}

// Nothing is left of a claim that is gone, but another one of its name is not it.
func TestAClaimThatIsGoneIsForgotten(t *testing.T) {
	g, e, clk := NewWithT(t), &empty{}, clocktesting.NewFakePassiveClock(time.Unix(1000, 0))
	o := &Observer{Kept: e, Live: e, Clock: clk}
	before, now := claimAt("a", "9"), claimAt("a", "12")
	before.UID, now.UID = "before", "now"
	for _, tt := range []struct {
		wrote *v1alpha1.NodeUpgrade
		left  []*v1alpha1.NodeUpgrade
	}{{before, nil}, {now, []*v1alpha1.NodeUpgrade{now}}} {
		o.Wrote(tt.wrote)
		o.Gone(before)
		claims, err := o.nodeUpgrades(t.Context(), Cached)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(claims).To(ConsistOf(tt.left))
	}
}
