package metrics

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"

	"refit.dev/refit/api/managedupgrade/v1beta1"
)

// settings are the labels that show a part of a ClusterVersion's spec.
var settings = []string{"baseline_capability_set", "channel", "cluster_id", "upstream"}

var (
	aliasVersionInfo = alias("cluster_version_info", "1 for the ClusterVersion that counts, with what applies now.",
		append([]string{"namespace", "cluster_version"}, settings...)...)
	aliasVersionOverlay = alias("cluster_version_overlay_timestamp_seconds", "When an overlay of the ClusterVersion that counts begins to apply, with what will apply then.",
		append([]string{"namespace", "cluster_version", "from"}, settings...)...)

	versionMetrics = []*metric{aliasVersionInfo, aliasVersionOverlay}
)

// versions gives our ClusterVersion: the one that counts, once its controller has looked at it.
func (s *scrape) versions(ctx context.Context) {
	var list v1beta1.ClusterVersionList
	if !s.list(ctx, theVersions, &list) {
		return
	}
	for i := range list.Items {
		v := &list.Items[i]
		synced := meta.FindStatusCondition(v.Status.Conditions, v1beta1.ConditionSynced)
		if synced == nil || synced.Reason == v1beta1.ReasonAnother {
			continue
		}
		s.gauge(aliasVersionInfo, 1, slices.Concat([]string{v.Namespace, v.Name}, set(v.Status.Current))...)
		for _, o := range v.Status.Overlays {
			s.timestamp(aliasVersionOverlay, o.From.Time, slices.Concat([]string{v.Namespace, v.Name, utc(o.From.Time)}, set(o.Preview.Spec))...)
		}
	}
}

// set are the values of settings.
func set(s v1beta1.OverlaySpec) []string {
	baseline := ""
	if s.Capabilities != nil {
		baseline = string(s.Capabilities.BaselineCapabilitySet)
	}
	return []string{baseline, s.Channel, string(s.ClusterID), string(s.Upstream)}
}
