package version_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/snapshot/fixture"
	"refit.dev/refit/internal/version"
)

func known(spec map[string][]string) []v1alpha1.KubernetesVersion {
	var out []v1alpha1.KubernetesVersion
	for v, from := range spec {
		out = append(out, fixture.Version(v, from...))
	}
	return out
}

func TestPath(t *testing.T) {
	versions := map[string][]string{
		"v1.34.4": {"v1.33"}, "v1.35.1": {"v1.34"}, "v1.35.4": {"v1.34", "v1.35"}, "v1.36.1": {"v1.35.4"}, "v1.36.3": {"v1.35", "v1.36"}, "v1.37.0": {"v1.36.3"},
	}
	for _, tc := range []struct {
		name, from, to string
		want           []string
	}{
		{"one minor is one hop", "v1.35.4", "v1.36.3", []string{"v1.36.3"}},
		{"one minor from any patch where upgradeFrom names the minor", "v1.35.0", "v1.36.3", []string{"v1.36.3"}},
		{"a patch is one hop", "v1.36.1", "v1.36.3", []string{"v1.36.3"}},
		{"two minors stop between, at the highest patch", "v1.34.4", "v1.36.3", []string{"v1.35.4", "v1.36.3"}},
		{"three minors stop twice", "v1.34.0", "v1.37.0", []string{"v1.35.4", "v1.36.3", "v1.37.0"}},
		{"a patch release on the way is taken where upgradeFrom asks for it", "v1.35.1", "v1.36.1", []string{"v1.35.4", "v1.36.1"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := NewWithT(t)
			got, err := version.Path(tc.from, tc.to, known(versions))
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(got).To(Equal(tc.want))
		})
	}
}

func TestPathSaysWhyThereIsNone(t *testing.T) {
	versions := known(map[string][]string{"v1.34.4": nil, "v1.36.1": {"v1.35.4"}, "v1.36.3": {"v1.35", "v1.36"}, "v1.35.0": nil, "v1.38.0": {"v1.36"}})
	versions = append(versions, v1alpha1.KubernetesVersion{})
	versions[len(versions)-1].Spec = v1alpha1.KubernetesVersionSpec{Version: "v1.36.5", DowngradeTo: []string{"v1.36.3"}}
	for _, tc := range []struct {
		name, from, to string
		as             any
		says           []string
	}{
		{"an unknown version", "v1.35.4", "v1.36.9", new(*version.UnknownError), []string{"v1.36.9 is unknown", "v1.34.4, v1.35.0", "refit bundle import"}},
		{"a minor of which nothing is known", "v1.36.3", "v1.38.0", new(*version.NoPathError), []string{"no minor may be skipped", "v1.37"}},
		{"an upgradeFrom that is too narrow", "v1.35.0", "v1.36.1", new(*version.NoPathError), []string{"only from v1.35.4"}},
		{"upgradeFrom does not get past Kubernetes' own rule", "v1.36.3", "v1.38.0", new(*version.NoPathError), []string{"v1.38.0"}},
		{"a downgrade of a minor", "v1.36.3", "v1.35.0", new(*version.DowngradeError), []string{"go back to no version"}},
		{"a downgrade to another patch than the allowed one", "v1.36.5", "v1.36.1", new(*version.DowngradeError), []string{"it can go back to v1.36.3"}},
		{"what runs already", "v1.36.3", "v1.36.3", new(*version.AlreadyError), []string{"nothing to do"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := NewWithT(t)
			_, err := version.Path(tc.from, tc.to, versions)
			g.Expect(errors.As(err, tc.as)).To(BeTrue(), "%v", err)
			for _, s := range tc.says {
				g.Expect(err.Error()).To(ContainSubstring(s))
			}
		})
	}
	t.Run("an allowed downgrade is one hop", func(t *testing.T) {
		g := NewWithT(t)
		got, err := version.Path("v1.36.5", "v1.36.3", versions)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(got).To(Equal([]string{"v1.36.3"}))
	})
	t.Run("what is no version", func(t *testing.T) {
		_, err := version.Path("v1.36.5", "latest", versions)
		NewWithT(t).Expect(err).To(MatchError(ContainSubstring("latest")))
	})
}

// Whatever versions are known: every hop is allowed by the one after it, goes up, and skips no minor; and none could be left out.
func TestPathsAreLegalAndShortest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		spec := map[string][]string{}
		for range rapid.IntRange(1, 9).Draw(t, "versions") {
			v := draw(t)
			for range rapid.IntRange(0, 3).Draw(t, "from") {
				from := draw(t)
				if rapid.Bool().Draw(t, "minor") {
					from = version.Minor(from)
				}
				spec[v] = append(spec[v], from)
			}
			spec[v] = append(spec[v], "v1.9")
		}
		from, to := draw(t), draw(t)
		hops, err := version.Path(from, to, known(spec))
		if err != nil || version.Compare(from, to) > 0 {
			return
		}
		at := from
		for _, h := range hops {
			if !allowed(spec, at, h) {
				t.Fatalf("%s to %s is not allowed by %v", at, h, spec[h])
			}
			at = h
		}
		if at != to {
			t.Fatalf("%v does not end at %s", hops, to)
		}
		if best := fewest(spec, from, to); best != len(hops) {
			t.Fatalf("%v takes %d hops, %d are enough", hops, len(hops), best)
		}
	})
}

func draw(t *rapid.T) string {
	return fmt.Sprintf("v1.%d.%d", rapid.IntRange(33, 36).Draw(t, "minor"), rapid.IntRange(0, 2).Draw(t, "patch"))
}

func allowed(spec map[string][]string, from, to string) bool {
	apart := version.MinorsApart(from, to)
	return version.Compare(from, to) < 0 && apart <= 1 && (slices.Contains(spec[to], from) || slices.Contains(spec[to], version.Minor(from)))
}

func fewest(spec map[string][]string, from, to string) int {
	reached, n := map[string]bool{from: true}, 0
	for !reached[to] {
		n++
		for at := range maps.Clone(reached) {
			for v := range spec {
				if allowed(spec, at, v) {
					reached[v] = true
				}
			}
		}
	}
	return n
}
