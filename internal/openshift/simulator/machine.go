package simulator

import (
	"fmt"
	"time"

	machinev1 "github.com/openshift/api/machineconfiguration/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// machine is a machine of a pool.
type machine struct {
	// config that it has.
	config string
	// to is the configuration that it is taking, if any, and done how long it has worked on that.
	to   string
	done time.Duration
	// degraded says that it failed to take the configuration.
	degraded bool
}

// firstSeen are the machines of a pool that this simulator has not seen before: as its status says, the updated ones first.
func firstSeen(p *machinev1.MachineConfigPool, count int) []machine {
	wanted, had := p.Spec.Configuration.Name, p.Status.Configuration.Name
	out := make([]machine, count)
	for i := range out {
		out[i].config = had
		if had == "" || i < int(p.Status.UpdatedMachineCount) {
			out[i].config = wanted
		}
	}
	return out
}

// proceed goes on with what machines are taking; the stuck one, if it is not below 0, never gets there. What a machine has begun it finishes, also
// in a paused pool.
func (w *world) proceed(machines []machine, stuck int) {
	for i := range machines {
		m := &machines[i]
		if m.to == "" {
			continue
		}
		m.done += w.work
		due := m.done >= w.options.MachineTime
		m.degraded = due && i == stuck
		if due && !m.degraded {
			*m = machine{config: m.to}
		}
	}
}

// take has machines begin to take a configuration, as many at once as may be out of service.
func take(machines []machine, config string, atOnce int) {
	for i := range machines {
		if machines[i].to == "" && machines[i].config != config && unavailableOf(machines) < atOnce {
			machines[i].to = config
		}
	}
}

func unavailableOf(machines []machine) int {
	n := 0
	for _, m := range machines {
		if m.to != "" {
			n++
		}
	}
	return n
}

// atOnce is how many machines of a pool may be out of service at once: at least one.
func atOnce(p *machinev1.MachineConfigPool, machines int) (int, error) {
	if p.Spec.MaxUnavailable == nil {
		return 1, nil
	}
	n, err := intstr.GetScaledValueFromIntOrPercent(p.Spec.MaxUnavailable, machines, false)
	if err != nil {
		return 0, fmt.Errorf("maxUnavailable of pool %s: %w", p.Name, err)
	}
	return max(n, 1), nil
}
