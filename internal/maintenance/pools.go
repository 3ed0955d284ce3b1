package maintenance

import (
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"refit.dev/refit/api/managedupgrade/v1beta1"
)

// pausePools pauses the pools that are to be delayed, before anything is changed. A pool that a person paused is left as it is.
func (d *decider) pausePools() bool {
	if d.job.Spec.DesiredVersion == nil || d.condition(v1beta1.ConditionUpgradeCompleted) != nil { // a person who unpauses one later wants it to go on
		return true
	}
	var ours []string
	waiting := false
	for _, p := range d.Target.Pools {
		due, _, err := d.delay(p)
		if err != nil {
			return d.watch("spec.config.machineConfigPools: %v", err)
		}
		switch {
		case p.Paused && p.PausedBy == d.name():
			ours = append(ours, p.Name)
		case !p.Paused && p.PausedBy == d.name(): // a person wants it to go on
		case !p.Paused && d.Now.Before(due):
			d.act(Action{Kind: PausePool, Pool: p.Name})
			waiting = true
		}
	}
	if waiting {
		return d.wait("machine config pools are being paused")
	}
	d.poolsCondition(ours)
	return true
}

// poolsCondition says which pools are paused for the job.
func (d *decider) poolsCondition(ours []string) {
	if len(ours) > 0 {
		d.set(v1beta1.ConditionMachineConfigPoolsPaused, metav1.ConditionTrue, v1beta1.ReasonDelaySet, "Paused: %s", strings.Join(ours, ", "))
		return
	}
	if d.condition(v1beta1.ConditionMachineConfigPoolsPaused) != nil {
		d.set(v1beta1.ConditionMachineConfigPoolsPaused, metav1.ConditionFalse, v1beta1.ReasonCompleted, "No machine config pool is paused for the job any more")
	} else if len(d.job.Spec.Config.MachineConfigPools) > 0 {
		d.set(v1beta1.ConditionMachineConfigPoolsPaused, metav1.ConditionFalse, v1beta1.ReasonNoManagedPools, "No machine config pool is delayed")
	}
}

// delay says until when a pool is delayed, and when it must have been let go: the first entry that selects it and delays it counts.
// Both are zero for a pool that is not delayed; expiry is zero where there is none.
func (d *decider) delay(p Pool) (due, expiry time.Time, err error) {
	for _, entry := range d.job.Spec.Config.MachineConfigPools {
		selector, err := entry.MatchLabels.Selector()
		if err != nil {
			return due, expiry, err
		}
		if !selector.Matches(labels.Set(p.Labels)) || entry.DelayUpgrade.Min() == 0 {
			continue
		}
		due = d.job.Spec.StartAfter.Add(entry.DelayUpgrade.Min())
		if limit, ok := entry.DelayUpgrade.Max(); ok {
			expiry = d.job.Spec.StartBefore.Add(limit)
		}
		return due, expiry, nil
	}
	return due, expiry, nil
}

// unpausePools lets the delayed pools go, each when it is due and its hooks have run, and waits until they are updated.
func (d *decider) unpausePools() bool {
	var ours, held []string
	for _, p := range d.Target.Pools {
		if !p.Paused || p.PausedBy != d.name() {
			continue
		}
		ours = append(ours, p.Name)
		due, expiry, err := d.delay(p)
		if err != nil {
			due, expiry = time.Time{}, time.Time{} // what was taken is given back, whatever became of the configuration
		}
		if !expiry.IsZero() && d.Now.After(expiry) {
			return d.fail(v1beta1.ReasonUnpausingPoolsExpired, "Machine config pool %s could not be let go before %s%s", p.Name, local(expiry), last(d.Job.Status.Waiting))
		}
		if !expiry.IsZero() {
			d.at(expiry.Add(soon))
		}
		if d.Now.Before(due) {
			held = append(held, p.Name)
			d.at(due)
			d.wait("machine config pool %s is let go at %s", p.Name, local(due))
			continue
		}
		if d.hooks(v1beta1.EventMachineConfigPoolUnpause, p.Name) {
			d.act(Action{Kind: UnpausePool, Pool: p.Name})
			d.wait("machine config pool %s is being let go", p.Name)
		}
		if d.job.Finished() {
			return false
		}
	}
	d.poolsCondition(ours)
	d.paused(held)
	if len(ours) > 0 {
		return false
	}
	return d.job.Spec.DesiredVersion == nil || d.poolsUpdated()
}

// paused says whether the job has nothing left to do but to wait for delayed pools.
func (d *decider) paused(held []string) {
	if len(held) > 0 {
		d.set(v1beta1.ConditionPaused, metav1.ConditionTrue, v1beta1.ReasonDelaySet, "Waiting to let go: %s", strings.Join(held, ", "))
	} else if d.condition(v1beta1.ConditionPaused) != nil {
		d.set(v1beta1.ConditionPaused, metav1.ConditionFalse, v1beta1.ReasonCompleted, "No machine config pool waits any more")
	}
}
