package simulator

import (
	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"
	machinev1 "github.com/openshift/api/machineconfiguration/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func (p *play) version() *configv1.ClusterVersion {
	v := &configv1.ClusterVersion{}
	p.Expect(p.c.Get(p.ctx, client.ObjectKey{Name: ClusterVersionName}, v)).To(Succeed())
	return v
}

// want sets the desired update, as a person would.
func (p *play) want(u *configv1.Update) {
	v := p.version()
	v.Spec.DesiredUpdate = u
	p.Expect(p.c.Update(p.ctx, v)).To(Succeed())
}

func (p *play) condition(kind configv1.ClusterStatusConditionType) configv1.ClusterOperatorStatusCondition {
	for _, c := range p.version().Status.Conditions {
		if c.Type == kind {
			return c
		}
	}
	return configv1.ClusterOperatorStatusCondition{}
}

func (p *play) is(kind configv1.ClusterStatusConditionType) bool {
	return p.condition(kind).Status == configv1.ConditionTrue
}

func (p *play) completed(version string) func() bool {
	return func() bool {
		newest := p.version().Status.History[0]
		return newest.Version == version && newest.State == configv1.CompletedUpdate
	}
}

func (p *play) available() []string {
	var out []string
	for _, r := range p.version().Status.AvailableUpdates {
		out = append(out, r.Version)
	}
	return out
}

func (p *play) operator(name string) *configv1.ClusterOperator {
	o := &configv1.ClusterOperator{}
	p.Expect(p.c.Get(p.ctx, client.ObjectKey{Name: name}, o)).To(Succeed())
	return o
}

func (p *play) operatorIs(name string, kind configv1.ClusterStatusConditionType) bool {
	for _, c := range p.operator(name).Status.Conditions {
		if c.Type == kind {
			return c.Status == configv1.ConditionTrue
		}
	}
	return false
}

func (p *play) operatorAt(name string) string { return p.operator(name).Status.Versions[0].Version }

func (p *play) pool(name string) *machinev1.MachineConfigPool {
	o := &machinev1.MachineConfigPool{}
	p.Expect(p.c.Get(p.ctx, client.ObjectKey{Name: name}, o)).To(Succeed())
	return o
}

func (p *play) pause(name string, paused bool) {
	o := p.pool(name)
	o.Spec.Paused = paused
	p.Expect(p.c.Update(p.ctx, o)).To(Succeed())
}

func (p *play) poolIs(name string, kind machinev1.MachineConfigPoolConditionType) bool {
	for _, c := range p.pool(name).Status.Conditions {
		if c.Type == kind {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

// updated says that all machines of a pool have the configuration of a version.
func (p *play) updated(pool, version string) func() bool {
	return func() bool {
		o := p.pool(pool)
		return p.poolIs(pool, machinev1.MachineConfigPoolUpdated) && o.Status.UpdatedMachineCount == o.Status.MachineCount &&
			o.Status.Configuration.Name == Rendered(pool, version)
	}
}
