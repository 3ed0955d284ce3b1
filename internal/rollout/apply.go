package rollout

import (
	"k8s.io/apimachinery/pkg/api/equality"

	corev1 "k8s.io/api/core/v1"

	"refit.dev/refit/api/v1alpha1"
)

// hold keeps the ControlPlaneUpgrade under way from starting anything.
func (d *Decision) hold(j *journey, why string) {
	if j == nil {
		return
	}
	j.masters.sayAll("%s", why)
	j.workers.sayAll("%s", why)
	if existing := j.controlPlaneUpgrade(); existing != nil && !existing.Spec.Paused && !j.mastersDone() {
		spec := existing.Spec.DeepCopy()
		spec.Paused = true
		d.Actions = append(d.Actions, Action{Kind: ApplyControlPlane, Name: existing.Name, Version: j.hop(), Resume: resumeOf(existing.Annotations), ControlPlane: spec, Why: why})
	}
}

// controlPlaneUpgrade is the one of the hop under way, nil while there is none.
func (j *journey) controlPlaneUpgrade() *v1alpha1.ControlPlaneUpgrade {
	name := ControlPlaneName(j.Upgrade.Name, j.hop())
	for i := range j.Cluster.ControlPlaneUpgrades {
		if u := &j.Cluster.ControlPlaneUpgrades[i]; u.Name == name {
			return u
		}
	}
	return nil
}

// applyControlPlane makes the hop's ControlPlaneUpgrade what it should be, unless it is already.
func (j *journey) applyControlPlane(allowed *[]string, why string) []Action {
	spec := v1alpha1.ControlPlaneUpgradeSpec{
		KubernetesVersion: j.hop(), Allowed: allowed, ExcludedGates: j.Upgrade.Spec.ExcludedGates, Drain: j.plan.Drain,
	}
	if kv := j.Cluster.Version(j.hop()); kv != nil {
		spec.EtcdVersion = kv.Component("etcd")
	}
	for i := range j.masters.nodes {
		if j.ahead(&j.masters.nodes[i]) {
			continue
		}
		n := j.masters.nodes[i].node
		spec.MachinesRequireUpgrade = append(spec.MachinesRequireUpgrade, corev1.ObjectReference{APIVersion: "v1", Kind: "Node", Name: n.Name, UID: typesUID(n.UID)})
	}
	existing := j.controlPlaneUpgrade()
	if existing != nil {
		spec.ControlPlane, spec.ControlPlaneSpecData = existing.Spec.ControlPlane, existing.Spec.ControlPlaneSpecData
		if equality.Semantic.DeepEqual(existing.Spec, spec) && resumeOf(existing.Annotations) == j.owner.resume {
			return nil
		}
	}
	return []Action{{Kind: ApplyControlPlane, Name: ControlPlaneName(j.Upgrade.Name, j.hop()), Version: j.hop(), Resume: j.owner.resume, ControlPlane: &spec, Why: why}}
}
