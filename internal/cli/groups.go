package cli

import "github.com/spf13/cobra"

// groups are the commands as `refit --help` shows them.
var groups = []struct {
	id, title string
	commands  []func(*app) *cobra.Command
}{
	{"upgrade", "Upgrade:", []func(*app) *cobra.Command{newVersions, newPlan, newUpgrade, newStatus, newNodes, newLogs, newHealth}},
	{"control", "Control an upgrade:", []func(*app) *cobra.Command{newPause, newResume, newAbort, newStep, newApprove, newRetry, newSkip}},
	{"windows", "Maintenance windows:", []func(*app) *cobra.Command{newSchedule, newJobs}},
	{"setup", "Set up:", []func(*app) *cobra.Command{newInstall, newUninstall, newBundle}},
	{"about", "About:", []func(*app) *cobra.Command{newVersion}},
}
