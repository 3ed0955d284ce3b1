package view

import (
	"slices"
	"testing"

	. "github.com/onsi/gomega"
	"pgregory.net/rapid"
)

func TestNumbersInNamesAreComparedAsNumbers(t *testing.T) {
	names := []string{"node-10", "node-2", "node-1", "a", "node-02", "node", "node-2a"}
	slices.SortFunc(names, naturally)
	NewWithT(t).Expect(names).To(Equal([]string{"a", "node", "node-1", "node-02", "node-2", "node-2a", "node-10"}))
}

func TestTheOrderOfNamesIsAnOrder(t *testing.T) {
	name := rapid.StringMatching(`[ab0-9-]{0,6}`)
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := name.Draw(t, "a"), name.Draw(t, "b"), name.Draw(t, "c")
		if sign(naturally(a, b)) != -sign(naturally(b, a)) {
			t.Fatalf("%q and %q compare differently the other way round", a, b)
		}
		if naturally(a, b) == 0 && a != b {
			t.Fatalf("%q and %q are told to be the same", a, b)
		}
		if naturally(a, b) < 0 && naturally(b, c) < 0 && naturally(a, c) >= 0 {
			t.Fatalf("%q < %q < %q, but not the first before the last", a, b, c)
		}
	})
}

func sign(n int) int {
	switch {
	case n < 0:
		return -1
	case n > 0:
		return 1
	}
	return 0
}
