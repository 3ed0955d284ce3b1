package metrics

import (
	"context"

	"refit.dev/refit/api/managedupgrade/v1beta1"
	"refit.dev/refit/internal/schedule"
)

var (
	windowActive = own("suspension_active", "1 while an UpgradeSuspensionWindow is under way, 0 before and after it.", "namespace", "upgradesuspensionwindow")

	aliasWindowInfo  = alias("upgradesuspensionwindow_info", "1 for every UpgradeSuspensionWindow.", "namespace", "upgradesuspensionwindow", "reason")
	aliasWindowStart = alias("upgradesuspensionwindow_start_timestamp_seconds", "When an UpgradeSuspensionWindow begins.", "namespace", "upgradesuspensionwindow")
	aliasWindowEnd   = alias("upgradesuspensionwindow_end_timestamp_seconds", "When an UpgradeSuspensionWindow ends.", "namespace", "upgradesuspensionwindow")
	aliasWindowHolds = alias("upgradesuspensionwindow_matching_config", "1 for every UpgradeConfig that an UpgradeSuspensionWindow matches.",
		"namespace", "upgradesuspensionwindow", "config")
	aliasWindowSkips = alias("upgradesuspensionwindow_matching_job", "1 for every UpgradeJob that an UpgradeSuspensionWindow matches.",
		"namespace", "upgradesuspensionwindow", "job")

	windowMetrics = []*metric{windowActive, aliasWindowInfo, aliasWindowStart, aliasWindowEnd, aliasWindowHolds, aliasWindowSkips}
)

// windows gives the UpgradeSuspensionWindows.
func (s *scrape) windows(ctx context.Context) {
	var list v1beta1.UpgradeSuspensionWindowList
	if !s.list(ctx, theWindows, &list) {
		return
	}
	for i := range list.Items {
		w := &list.Items[i]
		span := schedule.Suspension{Start: w.Spec.Start.Time, End: w.Spec.End.Time}
		s.gauge(windowActive, number(span.Covers(s.now)), w.Namespace, w.Name)
		s.gauge(aliasWindowInfo, 1, w.Namespace, w.Name, w.Spec.Reason)
		s.timestamp(aliasWindowStart, span.Start, w.Namespace, w.Name)
		s.timestamp(aliasWindowEnd, span.End, w.Namespace, w.Name)
		for _, c := range w.Status.MatchingConfigs {
			s.gauge(aliasWindowHolds, 1, w.Namespace, w.Name, c.Name)
		}
		for _, j := range w.Status.MatchingJobs {
			s.gauge(aliasWindowSkips, 1, w.Namespace, w.Name, j.Name)
		}
	}
}
