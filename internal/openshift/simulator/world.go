package simulator

import (
	"errors"
	"fmt"
	"time"

	configv1 "github.com/openshift/api/config/v1"
	machinev1 "github.com/openshift/api/machineconfiguration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// world is what a step decides by.
type world struct {
	options Options
	now     metav1.Time
	// work is how much of an operator's or machine's time has gone by since the last step.
	work time.Duration
	// rendered is the version whose configurations the pools are to have.
	rendered string
	disturbance

	version   configv1.ClusterVersion
	operators map[string]*configv1.ClusterOperator
	pools     map[string]*machinev1.MachineConfigPool
}

// look begins a step: it gives a world with the time and the disturbances of this moment, or none while the operators are interrupted.
func (s *Simulator) look() (*world, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now, from := s.clock.Now(), s.last
	s.last = now
	if now.Before(s.disturbance.until) {
		return nil, false
	}
	if from.Before(s.disturbance.until) {
		from = s.disturbance.until
	}
	return &world{
		options: s.options, now: metav1.NewTime(now.Truncate(time.Second)), disturbance: s.disturbance.clone(),
		work: time.Duration(float64(now.Sub(from)) / s.disturbance.factor),
	}, true
}

// fill takes in the operators and pools. All operators of the options must be there: Seed makes them.
func (w *world) fill(operators []configv1.ClusterOperator, pools []machinev1.MachineConfigPool) error {
	w.operators, w.pools = map[string]*configv1.ClusterOperator{}, map[string]*machinev1.MachineConfigPool{}
	for i := range operators {
		w.operators[operators[i].Name] = &operators[i]
	}
	for _, name := range w.options.Operators {
		if w.operators[name] == nil {
			return fmt.Errorf("there is no ClusterOperator %s: seed the cluster first", name)
		}
	}
	if len(w.version.Status.History) == 0 {
		return errors.New("the ClusterVersion has no history: seed the cluster first")
	}
	for i := range pools {
		w.pools[pools[i].Name] = &pools[i]
	}
	w.worry()
	return nil
}

// worry makes the machine-config operator degraded while the pool of the control plane is.
func (w *world) worry() {
	master := w.pools[MasterPool]
	if _, troubled := w.troubles[MachineConfig]; troubled || master == nil {
		return
	}
	for _, c := range master.Status.Conditions {
		if c.Type == machinev1.MachineConfigPoolDegraded && c.Status == corev1.ConditionTrue {
			w.troubles[MachineConfig] = trouble{reason: "RequiredPoolsFailed", since: c.LastTransitionTime.Time,
				message: "Failed to resync because: error during syncRequiredMachineConfigPools: pool master is degraded"}
		}
	}
}
