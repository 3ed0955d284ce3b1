package metrics

import (
	"context"
	"strconv"

	"refit.dev/refit/api/managedupgrade/v1beta1"
)

var (
	configNext = own("upgradeconfig_next_schedule_timestamp_seconds", "When the next maintenance window of an UpgradeConfig begins. Absent where there is none.",
		"namespace", "upgradeconfig")
	configSuspended = own("upgradeconfig_suspended", "1 where an UpgradeConfig has suspend: true, 0 otherwise.", "namespace", "upgradeconfig")

	aliasConfigInfo = alias("upgradeconfig_info", "1 for every UpgradeConfig.", "namespace", "upgradeconfig", "cron", "location", "suspended")
	aliasConfigPin  = alias("upgradeconfig_pin_version_window_seconds", "How long before a maintenance window the version is pinned.", "namespace", "upgradeconfig")
	aliasConfigNext = alias("upgradeconfig_next_possible_schedule_timestamp_seconds", "When the next maintenance windows of an UpgradeConfig begin; n counts them from 0.",
		"namespace", "upgradeconfig", "n", "timestamp")

	configMetrics = []*metric{configNext, configSuspended, aliasConfigInfo, aliasConfigPin, aliasConfigNext}
)

// configs gives the UpgradeConfigs.
func (s *scrape) configs(ctx context.Context) {
	var list v1beta1.UpgradeConfigList
	if !s.list(ctx, theConfigs, &list) {
		return
	}
	for i := range list.Items {
		c := &list.Items[i]
		plan := c.Spec.Schedule
		s.gauge(configSuspended, number(plan.Suspend), c.Namespace, c.Name)
		s.gauge(aliasConfigInfo, 1, c.Namespace, c.Name, plan.Cron, plan.Location, strconv.FormatBool(plan.Suspend))
		s.gauge(aliasConfigPin, c.PinVersionWindow().Seconds(), c.Namespace, c.Name)
		for n, next := range c.Status.NextPossibleSchedules {
			if n == 0 {
				s.timestamp(configNext, next.Time.Time, c.Namespace, c.Name)
			}
			s.timestamp(aliasConfigNext, next.Time.Time, c.Namespace, c.Name, strconv.Itoa(n), utc(next.Time.Time))
		}
	}
}
