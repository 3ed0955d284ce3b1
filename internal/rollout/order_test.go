package rollout

import (
	"slices"
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/util/intstr"
	"pgregory.net/rapid"
)

func TestNaturalOrderIsHowPeopleCount(t *testing.T) {
	g := NewWithT(t)
	names := []string{"w-10", "w-2", "w-1", "a", "w", "w-02", "w-2b", "10", "9", ""}
	slices.SortFunc(names, natural)
	g.Expect(names).To(Equal([]string{"", "9", "10", "a", "w", "w-1", "w-02", "w-2", "w-2b", "w-10"}))
}

func TestNaturalOrderIsAnOrder(t *testing.T) {
	name := rapid.StringMatching(`[a-b0-2.-]{0,6}`)
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := name.Draw(t, "a"), name.Draw(t, "b"), name.Draw(t, "c")
		if natural(a, b) != -natural(b, a) || (natural(a, b) == 0) != (a == b) {
			t.Fatalf("%q and %q", a, b)
		}
		if natural(a, b) <= 0 && natural(b, c) <= 0 && natural(a, c) > 0 {
			t.Fatalf("%q %q %q", a, b, c)
		}
	})
}

func TestLimitIsAtLeastOneAndRoundsDown(t *testing.T) {
	for given, want := range map[string]int{"1": 1, "3": 3, "0": 1, "33%": 3, "1%": 1, "100%": 10, "250%": 10, "half": 1} {
		t.Run(given, func(t *testing.T) {
			most := intstr.Parse(given)
			NewWithT(t).Expect(limit(&most, 10)).To(Equal(want))
		})
	}
	NewWithT(t).Expect(limit(nil, 10)).To(Equal(1))
}
