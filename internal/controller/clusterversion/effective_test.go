package clusterversion

import (
	"fmt"
	"slices"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"refit.dev/refit/api/managedupgrade/v1beta1"
)

var noon = time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)

func from(after time.Duration, spec v1beta1.OverlaySpec) v1beta1.ClusterVersionOverlayConfig {
	return v1beta1.ClusterVersionOverlayConfig{From: metav1.NewTime(noon.Add(after)), Overlay: v1beta1.ClusterVersionOverlay{Spec: spec}}
}

func channel(name string) v1beta1.OverlaySpec { return v1beta1.OverlaySpec{Channel: name} }

func TestWhatApplies(t *testing.T) {
	template := v1beta1.OverlaySpec{Channel: "stable", Upstream: "https://graph", ClusterID: "id", DesiredUpdate: &configv1.Update{Version: "4.16.1"},
		Overrides: []configv1.ComponentOverride{{Kind: "Deployment", Name: "a"}}}
	plain := template
	plain.DesiredUpdate = nil
	with := func(change func(*v1beta1.OverlaySpec)) v1beta1.OverlaySpec {
		out := *plain.DeepCopy()
		change(&out)
		return out
	}
	for _, tt := range []struct {
		name          string
		overlays      []v1beta1.ClusterVersionOverlayConfig
		want          v1beta1.OverlaySpec
		applied, next time.Duration // 1 for none
	}{
		{"the template alone", nil, plain, 1, 1},
		{"an overlay to come", []v1beta1.ClusterVersionOverlayConfig{from(time.Hour, channel("fast"))}, plain, 1, time.Hour},
		{"an overlay that begins now", []v1beta1.ClusterVersionOverlayConfig{from(0, channel("fast"))}, with(func(s *v1beta1.OverlaySpec) { s.Channel = "fast" }), 0, 1},
		{"the latest of two, whatever their order", []v1beta1.ClusterVersionOverlayConfig{from(-time.Hour, channel("fast")), from(-2*time.Hour, v1beta1.OverlaySpec{Upstream: "https://other"})},
			with(func(s *v1beta1.OverlaySpec) { s.Channel = "fast" }), -time.Hour, 1},
		{"the last of two that begin together", []v1beta1.ClusterVersionOverlayConfig{from(0, channel("fast")), from(0, channel("candidate"))},
			with(func(s *v1beta1.OverlaySpec) { s.Channel = "candidate" }), 0, 1},
		{"the next of two to come is the nearer", []v1beta1.ClusterVersionOverlayConfig{from(3*time.Hour, channel("a")), from(2*time.Hour, channel("b"))}, plain, 1, 2 * time.Hour},
		{"an overlay of every field", []v1beta1.ClusterVersionOverlayConfig{from(0, v1beta1.OverlaySpec{ClusterID: "other", Upstream: "https://other", Channel: "fast",
			DesiredUpdate: &configv1.Update{Version: "9"}, Capabilities: &configv1.ClusterVersionCapabilitiesSpec{BaselineCapabilitySet: "None"},
			SignatureStores: []configv1.SignatureStore{{URL: "https://s"}}, Overrides: []configv1.ComponentOverride{{Kind: "Service", Name: "b"}}})},
			v1beta1.OverlaySpec{ClusterID: "other", Upstream: "https://other", Channel: "fast", Capabilities: &configv1.ClusterVersionCapabilitiesSpec{BaselineCapabilitySet: "None"},
				SignatureStores: []configv1.SignatureStore{{URL: "https://s"}}, Overrides: []configv1.ComponentOverride{{Kind: "Service", Name: "b"}}}, 0, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := NewWithT(t)
			got, applied, next := effective(v1beta1.ClusterVersionSpec{Template: v1beta1.ClusterVersionTemplate{Spec: template}, Overlays: tt.overlays}, noon)
			g.Expect(got).To(Equal(tt.want))
			for _, is := range []struct {
				got  *metav1.Time
				want time.Duration
			}{{applied, tt.applied}, {next, tt.next}} {
				if is.want == 1 {
					g.Expect(is.got).To(BeNil())
				} else {
					g.Expect(is.got).To(HaveValue(Equal(metav1.NewTime(noon.Add(is.want)))))
				}
			}
		})
	}
}

// drawn is a spec whose overlays each have their own number in every field that they set.
func drawn(t *rapid.T) v1beta1.ClusterVersionSpec {
	spec := v1beta1.ClusterVersionSpec{Template: v1beta1.ClusterVersionTemplate{Spec: v1beta1.OverlaySpec{Channel: "t", Upstream: "t", ClusterID: "t"}}}
	for i := range rapid.IntRange(0, 8).Draw(t, "overlays") {
		n, o := fmt.Sprint(i), v1beta1.OverlaySpec{}
		if rapid.Bool().Draw(t, "channel") {
			o.Channel = n
		}
		if rapid.Bool().Draw(t, "upstream") {
			o.Upstream = configv1.URL(n)
		}
		if rapid.Bool().Draw(t, "clusterID") {
			o.ClusterID = configv1.ClusterID(n)
		}
		spec.Overlays = append(spec.Overlays, from(time.Duration(rapid.IntRange(-5, 5).Draw(t, "from"))*time.Hour, o))
	}
	return spec
}

func TestTwoOverlaysAreNeverCombined(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		spec, now := drawn(t), noon.Add(time.Duration(rapid.IntRange(-360, 360).Draw(t, "now"))*time.Minute)
		got, applied, next := effective(spec, now)
		sources := []string{got.Channel, string(got.Upstream), string(got.ClusterID)}
		sources = slices.DeleteFunc(sources, func(s string) bool { return s == "t" })
		slices.Sort(sources)
		if len(slices.Compact(sources)) > 1 {
			t.Fatalf("overlays %v are combined", sources)
		}
		if applied != nil && applied.After(now) || next != nil && !next.After(now) || applied == nil && len(sources) > 0 {
			t.Fatalf("applied %v and next %v at %v, from %v", applied, next, now, sources)
		}
	})
}

func TestLaterNeverGoesBackToAnEarlierOverlayAndChangesOnlyAtTheTimesAnnounced(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		spec, now := drawn(t), noon.Add(-6*time.Hour)
		current, applied, next := effective(spec, now)
		announced := previews(spec, now)
		for range 12 * 6 {
			now = now.Add(10 * time.Minute)
			then, appliedThen, nextThen := effective(spec, now)
			if applied != nil && (appliedThen == nil || appliedThen.Before(applied)) {
				t.Fatalf("went back from %v to %v", applied, appliedThen)
			}
			if due := next != nil && !next.After(now); !due && fmt.Sprint(then) != fmt.Sprint(current) {
				t.Fatalf("changed at %v, though %v was announced", now, next)
			} else if due {
				if !appliedThen.Equal(next) || fmt.Sprint(announced[0].Preview.Spec) != fmt.Sprint(then) {
					t.Fatalf("at %v %v applies, %v was announced", now, then, announced[0])
				}
				announced = announced[1:]
			}
			current, applied, next = then, appliedThen, nextThen
		}
		if len(announced) > 0 {
			t.Fatalf("%v never came", announced)
		}
	})
}

func TestTheOldestCountsThenTheFirstByNamespaceAndName(t *testing.T) {
	g := NewWithT(t)
	object := func(namespace, name string, age time.Duration) v1beta1.ClusterVersion {
		return v1beta1.ClusterVersion{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, CreationTimestamp: metav1.NewTime(noon.Add(-age))}}
	}
	leaving := object("a", "leaving", time.Hour)
	leaving.DeletionTimestamp = &metav1.Time{Time: noon}
	var names []string
	for _, o := range byAge([]v1beta1.ClusterVersion{object("b", "a", 0), object("a", "b", 0), object("a", "a", 0), object("z", "z", time.Minute), leaving}) {
		names = append(names, o.Namespace+"/"+o.Name)
	}
	g.Expect(names).To(Equal([]string{"z/z", "a/a", "a/b", "b/a"}))
}
