package clusterversion

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"refit.dev/refit/api/managedupgrade/v1beta1"
)

// effective is what applies at a time: the template with the latest overlay that has begun laid over it, of several that begin at the
// same time the last in the list. Overlays do not combine. applied is when that overlay began, nil where the template applies alone;
// next is when another one begins, nil where none will. The result has no desiredUpdate.
func effective(spec v1beta1.ClusterVersionSpec, now time.Time) (current v1beta1.OverlaySpec, applied, next *metav1.Time) {
	var latest *v1beta1.ClusterVersionOverlayConfig
	for i := range spec.Overlays {
		switch o := &spec.Overlays[i]; {
		case o.From.After(now):
			if next == nil || o.From.Time.Before(next.Time) {
				next = o.From.DeepCopy()
			}
		case latest == nil || !o.From.Time.Before(latest.From.Time):
			latest = o
		}
	}
	if latest == nil {
		return lay(spec.Template.Spec, v1beta1.OverlaySpec{}), nil, next
	}
	return lay(spec.Template.Spec, latest.Overlay.Spec), latest.From.DeepCopy(), next
}

// lay is a template with an overlay on it: each field that the overlay has replaces the template's as a whole.
func lay(template, overlay v1beta1.OverlaySpec) v1beta1.OverlaySpec {
	out, over := *template.DeepCopy(), overlay.DeepCopy()
	out.DesiredUpdate = nil
	if over.ClusterID != "" {
		out.ClusterID = over.ClusterID
	}
	if over.Upstream != "" {
		out.Upstream = over.Upstream
	}
	if over.Channel != "" {
		out.Channel = over.Channel
	}
	if over.Capabilities != nil {
		out.Capabilities = over.Capabilities
	}
	if len(over.SignatureStores) > 0 {
		out.SignatureStores = over.SignatureStores
	}
	if len(over.Overrides) > 0 {
		out.Overrides = over.Overrides
	}
	return out
}

// previews are what will apply from each time to come at which an overlay begins, the earliest first.
func previews(spec v1beta1.ClusterVersionSpec, now time.Time) []v1beta1.OverlayPreview {
	var times []time.Time
	for _, o := range spec.Overlays {
		if o.From.After(now) {
			times = append(times, o.From.Time)
		}
	}
	slices.SortFunc(times, time.Time.Compare)
	var out []v1beta1.OverlayPreview
	for _, from := range slices.CompactFunc(times, time.Time.Equal) {
		then, _, _ := effective(spec, from)
		out = append(out, v1beta1.OverlayPreview{From: metav1.NewTime(from), Preview: v1beta1.ClusterVersionTemplate{Spec: then}})
	}
	return out
}
