package e2e

import (
	"flag"
	"testing"
	"time"
)

var all = flag.Bool("all", false, "run every fault, not only those whose turn it is today")

// fault is a test of some of the faults on the list, on a cluster of its own.
type fault struct {
	name string
	run  func(*testing.T)
}

// faults are in an order in which long and short ones take turns.
var faults = []fault{
	{"damaged_bundles_and_no_registry", testBundles},
	{"power_cuts_of_a_worker", testPowerCutsOfAWorker},
	{"drain_against_a_budget", testBudget},
	{"manager_killed_at_every_step", testManagerKilled},
	{"etcd_member_down", testEtcdMemberDown},
	{"power_cuts_of_the_control_plane", testPowerCutsOfTheControlPlane},
	{"api_server_away_and_a_persons_cordon", testAPIServerAway},
	{"worker_lost_after_its_drain", testWorkerLost},
	{"node_upgrade_deleted_in_a_step", testClaimDeleted},
}

// perDay is how many faults run without -all.
const perDay = 2

// TestFault runs each fault of the list; without -all, only those whose turn it is by the date.
func TestFault(t *testing.T) {
	first := int(time.Now().Unix()/int64(24*time.Hour/time.Second)) * perDay
	for i, f := range faults {
		t.Run(f.name, func(t *testing.T) {
			if turn := (i - first%len(faults) + len(faults)) % len(faults); !*all && turn >= perDay {
				t.Skip("not its turn today; -all runs every fault")
			}
			f.run(t)
		})
	}
}
