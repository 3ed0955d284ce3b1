package invariant

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

func TestWhatTheApiShowsLateIsNotHeldAgainstTheProduct(t *testing.T) {
	g := NewWithT(t)
	var l lasting
	at := time.Unix(1000, 0)
	look := func(seconds int, found ...string) []string {
		return l.over(found, at.Add(time.Duration(seconds)*time.Second), mirrorLag)
	}
	g.Expect(look(0, "skew")).To(BeEmpty())
	g.Expect(look(20, "skew")).To(BeEmpty())
	g.Expect(look(25)).To(BeEmpty(), "it is gone")
	g.Expect(look(40, "skew")).To(BeEmpty(), "and counts anew")
	g.Expect(look(71, "skew")).To(Equal([]string{"skew"}))
}
