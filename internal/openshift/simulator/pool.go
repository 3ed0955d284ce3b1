package simulator

import (
	"context"
	"crypto/sha256"
	"fmt"

	machinev1 "github.com/openshift/api/machineconfiguration/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Rendered is the name of the configuration of a pool at a version of the cluster.
func Rendered(pool, version string) string {
	sum := sha256.Sum256([]byte(pool + "@" + version))
	return fmt.Sprintf("rendered-%s-%x", pool, sum[:16])
}

// stepPool gives a pool the configuration of the version that is rendered, also when the pool is paused, and brings its machines to it,
// unless it is paused.
func (s *Simulator) stepPool(ctx context.Context, w *world, p *machinev1.MachineConfigPool) error {
	if p.Spec.Paused != s.paused[p.Name] {
		s.paused[p.Name] = p.Spec.Paused
		s.options.Report(fmt.Sprintf("MachineConfigPool %s: paused is %t", p.Name, p.Spec.Paused))
	}
	machines, seen := s.machines[p.Name]
	if !seen {
		known, _ := w.options.pool(p.Name)
		machines = firstSeen(p, known.Machines)
		s.machines[p.Name] = machines
	}
	if err := s.render(ctx, p, Rendered(p.Name, w.rendered)); err != nil {
		return err
	}
	stuck := -1
	if n, is := w.stuck[p.Name]; is {
		stuck = n
	}
	w.proceed(machines, stuck)
	if !p.Spec.Paused {
		most, err := atOnce(p, len(machines))
		if err != nil {
			return err
		}
		take(machines, p.Spec.Configuration.Name, most)
	}
	before := p.DeepCopy()
	w.poolStatus(p, machines)
	wrote, err := s.put(ctx, before, p)
	if wrote {
		s.report(poolChanges(before, p))
	}
	return err
}

// render writes the only part of a spec that is the operator's. It fails as stale when the pool has changed since it was read.
func (s *Simulator) render(ctx context.Context, p *machinev1.MachineConfigPool, config string) error {
	if p.Spec.Configuration.Name == config {
		return nil
	}
	patch := client.MergeFromWithOptions(p.DeepCopy(), client.MergeFromWithOptimisticLock{})
	p.Spec.Configuration.ObjectReference = reference(config)
	if err := stale(s.client.Patch(ctx, p, patch), "write the configuration of pool %s", p.Name); err != nil {
		return err
	}
	s.options.Report(fmt.Sprintf("MachineConfigPool %s: its configuration is to be %s", p.Name, config))
	return nil
}
