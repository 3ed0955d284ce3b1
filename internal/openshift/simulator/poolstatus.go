package simulator

import (
	"fmt"

	machinev1 "github.com/openshift/api/machineconfiguration/v1"
	corev1 "k8s.io/api/core/v1"
)

// poolStatus has a pool say how its machines are.
func (w *world) poolStatus(p *machinev1.MachineConfigPool, machines []machine) {
	config, status := p.Spec.Configuration.Name, &p.Status
	*status = count(*status, machines, config)
	status.ObservedGeneration = p.Generation
	c := poolConditions{list: &status.Conditions, now: w.now}
	updated := status.UpdatedMachineCount == status.MachineCount && status.UnavailableMachineCount == 0
	switch {
	case updated:
		status.Configuration = *p.Spec.Configuration.DeepCopy()
		c.set(machinev1.MachineConfigPoolUpdated, true, "", "All nodes are updated with "+config)
		c.set(machinev1.MachineConfigPoolUpdating, false, "", "")
	case p.Spec.Paused:
		c.set(machinev1.MachineConfigPoolUpdated, false, "", "")
		c.set(machinev1.MachineConfigPoolUpdating, false, "", "Pool is paused; will not update to "+config)
	default:
		c.set(machinev1.MachineConfigPoolUpdated, false, "", "")
		c.set(machinev1.MachineConfigPoolUpdating, true, "", "All nodes are updating to "+config)
	}
	reason, message := "", ""
	for i, m := range machines {
		if m.degraded {
			reason = fmt.Sprintf("%d nodes are reporting degraded status on sync", status.DegradedMachineCount)
			message = fmt.Sprintf("Node %s-%d is reporting: \"failed to update to %s\"", p.Name, i, m.to)
		}
	}
	c.set(machinev1.MachineConfigPoolRenderDegraded, false, "", "")
	c.set(machinev1.MachineConfigPoolNodeDegraded, reason != "", reason, message)
	c.set(machinev1.MachineConfigPoolDegraded, reason != "", "", "")
}

// count fills in the counts. As in the real operator, a machine is ready only with the wanted configuration.
func count(status machinev1.MachineConfigPoolStatus, machines []machine, config string) machinev1.MachineConfigPoolStatus {
	status.MachineCount, status.UpdatedMachineCount, status.ReadyMachineCount = int32(len(machines)), 0, 0
	status.UnavailableMachineCount, status.DegradedMachineCount = int32(unavailableOf(machines)), 0
	for _, m := range machines {
		if m.config == config && m.to == "" {
			status.UpdatedMachineCount++
			status.ReadyMachineCount++
		}
		if m.degraded {
			status.DegradedMachineCount++
		}
	}
	return status
}

// masterHas says that the pool of the control plane, if there is one, has the configuration of a version on all machines.
func (w *world) masterHas(version string) bool {
	p := w.pools[MasterPool]
	if p == nil {
		return true
	}
	config := Rendered(MasterPool, version)
	return p.Spec.Configuration.Name == config && p.Status.Configuration.Name == config &&
		p.Status.UpdatedMachineCount == p.Status.MachineCount
}

func reference(config string) corev1.ObjectReference {
	return corev1.ObjectReference{APIVersion: machinev1.GroupVersion.String(), Kind: "MachineConfig", Name: config}
}
